from diskret.comparison.compare import compare_methods as compare_methods
from diskret.comparison.settings import Settings as Settings
