"""The page of ``view``, served: it holds nothing of the memory, and asks for it with the token in its address."""

from fastapi import FastAPI
from starlette.responses import Response

from graphmem.core.page.render import served_page
from graphmem.doors.http.guard import VIEW

HEADERS = {"Cross-Origin-Opener-Policy": "same-origin", "Referrer-Policy": "no-referrer"}


def add_view(app: FastAPI) -> None:
    """Add the route of the page."""

    async def call() -> Response:
        page, policy = served_page()
        headers = {"Content-Security-Policy": f"{policy}; frame-ancestors 'none'", **HEADERS}
        return Response(page, media_type="text/html", headers=headers)

    app.get(VIEW, include_in_schema=False)(call)
