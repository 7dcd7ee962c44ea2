from diskret.safe.control import Control as Control
from diskret.safe.file_attack import attack_anonymous as attack_anonymous
from diskret.safe.options import AnonymiseOptions as AnonymiseOptions
from diskret.safe.options import LadderSearch as LadderSearch
from diskret.safe.options import PrintedSearch as PrintedSearch
from diskret.safe.published import FileKnowledge as FileKnowledge
from diskret.safe.published import Published as Published
