from diskret.safe.control import Control as Control
from diskret.safe.options import AnonymiseOptions as AnonymiseOptions
from diskret.safe.options import LadderSearch as LadderSearch
from diskret.safe.options import PrintedSearch as PrintedSearch
