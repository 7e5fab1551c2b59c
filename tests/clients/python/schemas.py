"""Lists the tools at an address, and compiles their schemas as the client does when it reads results."""

import asyncio
import sys

import mcp.client.streamable_http as http
from jsonschema import SchemaError
from jsonschema.validators import validator_for
from mcp import ClientSession


async def main():
    connect = getattr(http, "streamablehttp_client", None) or http.streamable_http_client
    async with connect(sys.argv[1]) as streams, ClientSession(streams[0], streams[1]) as session:
        await session.initialize()
        tools = (await session.list_tools()).tools
    schemas = []
    for tool in tools:
        told = tool.model_dump(by_alias=True)
        schemas += [it for it in (told["inputSchema"], told["outputSchema"]) if it is not None]
    for schema in schemas:
        try:
            validator_for(schema).check_schema(schema)
        except SchemaError as error:
            sys.exit(f"{schema}: {error.message}")
    print(f"{len(schemas)} schemas")


asyncio.run(main())
