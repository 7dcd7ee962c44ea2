"""Statistical confidentiality: protect tables and microdata, attack them before release, prove what is promised."""
