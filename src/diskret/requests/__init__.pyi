from diskret.requests.answering import Answer as Answer
from diskret.requests.answering import answer as answer
from diskret.requests.beside import House as House
from diskret.requests.query import Query as Query
from diskret.requests.records import Records as Records
from diskret.requests.shown import Shown as Shown
