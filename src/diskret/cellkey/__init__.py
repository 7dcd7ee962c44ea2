"""Noise that depends on the records of a cell alone: cell keys, perturbation tables, and the attack on both."""

from diskret.model.lazy import names_of

__getattr__, __dir__ = names_of(
    __name__,
    {
        "cell_key": "draw_keys perturb_by_key",
        "cell_key_attack": "attack_cell_keys",
        "options": "Scaling",
        "p_table": "PTable",
        "p_table_design": "design_p_table",
        "p_table_files": "read_p_table write_p_table",
    },
)
