"""Vega-Lite inside a page: the libraries as one script, from the package that holds them.

Vega-Lite was chosen over Plotly. Its plot is a JSON document, which Python builds and tests; its expressions are
interpreted, so that the page's policy need not allow ``eval``; all of it together takes 0.9 MB of the page, where
Plotly's smallest bundle takes 1.2 MB and the one in its Python package 4.8 MB. vl-convert-python holds the libraries
in a wheel and needs no network; it gives the same bytes for the same version.
"""

from __future__ import annotations

from functools import cache

from sparsegen.errors import ToolError
from sparsegen.report.html import text_of

GLOBAL_NAME = "sparsegenEmbed"
"""What the page calls Vega-Embed."""


def require_vega() -> None:
    """Raise an error that says what to install where the libraries are missing."""
    try:
        import vl_convert  # noqa: F401
    except ImportError:
        raise ToolError(
            "the plot of a search needs vl-convert-python; install it with: pip install 'sparsegen[report]'"
        ) from None


@cache
def vega_script() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as a script, with their licences."""
    require_vega()
    import vl_convert

    bundle: str = vl_convert.javascript_bundle(f"window.{GLOBAL_NAME} = vegaEmbed;")
    # An HTML parser would end the script at this, which in a string or a regular expression means the same.
    return f"/*\n{text_of('vega_licence.txt')}*/\n{bundle}".replace("</script", "<\\/script").replace("<!--", "<\\!--")
