from diskret.ledger.about import About as About
from diskret.ledger.about import Ratio as Ratio
from diskret.ledger.check import LedgerCheck as LedgerCheck
from diskret.ledger.entry import Entry as Entry
from diskret.ledger.ledger import Ledger as Ledger
from diskret.ledger.ledger import open_ledger as open_ledger
