"""The work of both tools."""

import anyio

counted: dict[str, int] = {}


async def count(key: str, steps: int, ms: float, progress=None) -> dict:
    for step in range(1, steps + 1):
        await anyio.sleep(ms / 1000)
        counted[key] = step
        if progress:
            await progress(step)
    return {"key": key, "count": steps}


def read(key: str) -> dict:
    return {"key": key, "steps": counted.get(key, 0)}
