"""How Sphinx builds these pages: ``sphinx-build -W docs FOLDER``, without a network."""

from sparsegen import __version__

project = "sparsegen"
author = "the sparsegen authors"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax", "sphinx.ext.viewcode"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"sparsegen {__version__}"
html_show_sphinx = False

autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_member_order = "bysource"

# Links to code and to pages beside the documentation are right in the repository and lead nowhere in a page.
suppress_warnings = ["myst.xref_missing"]
