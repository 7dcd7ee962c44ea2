from diskret.cellkey.cell_key import draw_keys as draw_keys
from diskret.cellkey.cell_key import perturb_by_key as perturb_by_key
from diskret.cellkey.cell_key_attack import attack_cell_keys as attack_cell_keys
from diskret.cellkey.options import Scaling as Scaling
from diskret.cellkey.p_table import PTable as PTable
from diskret.cellkey.p_table_design import design_p_table as design_p_table
from diskret.cellkey.p_table_files import read_p_table as read_p_table
from diskret.cellkey.p_table_files import write_p_table as write_p_table
