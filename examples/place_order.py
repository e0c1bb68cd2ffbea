#!/usr/bin/env python3
"""Signs, places, follows and cancels an order on the spot market, in Python, from the venue's own description.

What to sign is read from GET /v1/venue and compared with GET /v1/signing-vectors.json before anything is sent.
Needs Python 3.9 and three packages, on Debian 12 and 13: python3-pycryptodome python3-ecdsa python3-websockets.
With pip: pycryptodomex ecdsa websockets.

    python3 examples/place_order.py [path of devnet.json; by default in DATA_DIR, or var]
"""
import asyncio
import os
import sys

if {"-h", "--help"} & set(sys.argv[1:]):
    print(__doc__)
    sys.exit()

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "python"))
from venue import Key, Rest, Socket, Terms, check_vectors, read_devnet, signed_cancel, signed_order  # noqa: E402

MARKET = "cNGN-USDC"


async def follow(rest: Rest, venue: dict, key: Key, body: dict) -> None:
    """Follows the owner's orders while one is placed and cancelled."""
    states = asyncio.Queue()

    def handle(channel: str, frame: dict) -> None:
        if frame["type"] == "snapshot" or frame["data"]["order_id"] == body["order_id"]:
            states.put_nowait(frame["data"])

    socket = Socket(rest.base, venue, key, handle)
    socket.follow("orders", MARKET)
    socket.start()
    await states.get()
    await asyncio.to_thread(rest.post, "/v1/orders", body)
    while True:
        order = await states.get()
        print(f"{order['order_id']} is {order['status']}")
        if order["final"]:
            break
        await asyncio.to_thread(rest.post, "/v1/orders/cancel", signed_cancel(venue, key, body["nonce"]))
    socket.stop()


def main() -> None:
    devnet = read_devnet()
    rest, account = Rest(devnet["gateway_url"]), devnet["accounts"][0]
    key = Key(account["private_key"])
    venue = rest.get("/v1/venue")
    print(f"{check_vectors(rest)} signing vectors agree")
    market = next(one for one in rest.get("/v1/markets") if one["market"] == MARKET)
    # Buys 14,000 cNGN at a price far below the market, so that it rests.
    terms = Terms("buy", "0.0001", "14000")
    body = signed_order(venue, market, key, account["spot_subaccount_id"], terms)
    asyncio.run(asyncio.wait_for(follow(rest, venue, key, body), 60))


if __name__ == "__main__":
    main()
