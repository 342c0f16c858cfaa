"""The Model Context Protocol over streamable HTTP, beside the routes of the operations."""

import contextlib
from collections.abc import AsyncIterator

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from graphmem.api import Memory
from graphmem.doors.http.guard import MCP
from graphmem.doors.mcp.server import make_server


class McpRoute:
    """The SDK's server at one path; each request is answered by itself, so that none holds a session."""

    def __init__(self, memory: Memory) -> None:
        self.manager = StreamableHTTPSessionManager(make_server(lambda: memory), json_response=True, stateless=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["caller"].require_all_kinds("MCP")
        await self.manager.handle_request(scope, receive, send)

    def add_to(self, app: Starlette) -> None:
        """Add the path to an application, which runs the server as long as itself."""

        @contextlib.asynccontextmanager
        async def lifespan(app: Starlette) -> AsyncIterator[None]:
            async with self.manager.run():
                yield

        app.router.lifespan_context = lifespan
        app.router.routes.append(Route(MCP, self))
