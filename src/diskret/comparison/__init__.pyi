from diskret.comparison.compare import compare_methods as compare_methods
from diskret.comparison.options import ComparisonOptions as ComparisonOptions
