#!/usr/bin/env python3
"""Keeps quotes on both sides of the spot market over one socket until it is interrupted, then checks what they traded.

    python3 examples/python/quoter.py [path of devnet.json; by default in DATA_DIR, or var]
"""
import asyncio
import secrets
import signal
from decimal import Decimal, getcontext

from venue import Key, Refused, Rest, Socket, Terms, Unknown, check_vectors, read_devnet, signed_frame, signed_order

MARKET = "cNGN-USDC"
LEVELS = 5
SIZE = "15000"
MIDDLE = Decimal("0.00065")
STEP = Decimal("0.001")
# Balances have 18 decimals; sums of them are exact.
getcontext().prec = 60


class Quoter:
    """One order for each place of the ladder; a place whose order has ended gets another one."""

    def __init__(self, rest: Rest, venue: dict, market: dict, key: Key, subaccount: str):
        self.rest, self.venue, self.market = rest, venue, market
        self.key, self.subaccount = key, subaccount
        self.name = f"py-quoter-{secrets.token_hex(4)}"
        self.bodies, self.states, self.fills = {}, {}, {}
        self.socket = Socket(rest.base, venue, key, self.handle)
        for channel in ("orders", "fills"):
            self.socket.follow(channel, MARKET)

    def handle(self, channel: str, frame: dict) -> None:
        rows = frame["data"] if frame["type"] == "snapshot" else [frame["data"]]
        if channel == "orders" and frame["type"] == "snapshot":
            # What is not in it has ended, or was never taken: the same body again says which.
            self.states = {one: row for one, row in self.states.items() if row["final"]}
        for row in reversed(rows):
            if not row["order_id"].startswith(self.name):
                continue
            if channel == "orders":
                self.states[row["order_id"]] = row
            else:
                self.fills[row["settlement_id"], row["order_id"]] = row

    def sign(self, side: str, level: int) -> dict:
        away = 1 + level * STEP if side == "sell" else 1 - level * STEP
        price = (MIDDLE * away).quantize(Decimal("0.00000001")).normalize()
        terms = Terms(side, f"{price:f}", SIZE)
        return signed_order(
            self.venue, self.market, self.key, self.subaccount, terms, self.name, post_only="reject"
        )

    def resting(self) -> int:
        ids = [body["order_id"] for body in self.bodies.values()]
        return sum(self.states.get(one, {}).get("status") == "active" for one in ids)

    async def keep(self, place) -> None:
        body = self.bodies.get(place)
        if body is not None and self.states.get(body["order_id"], {}).get("status") == "active":
            return
        if body is None or body["order_id"] in self.states:
            body = self.bodies[place] = self.sign(*place)
        try:
            order = await self.taken(body)
            self.states.setdefault(order["order_id"], order)
        except Refused:
            del self.bodies[place]
        except Unknown as unknown:
            await asyncio.sleep(unknown.retry_after)

    async def taken(self, body: dict) -> dict:
        """The order of a body that may have been sent before. Raises Refused and Unknown."""
        try:
            return await self.socket.order("place", body)
        except Refused as refused:
            if refused.status != 409:
                raise
        # The answer to a repeat over the socket is without the order.
        return await asyncio.to_thread(self.rest.get, f"/v1/orders/{body['order_id']}")

    async def run(self, stop: asyncio.Event) -> None:
        """Quotes until `stop`, then cancels; returns when nothing of it can fill any more."""
        places = [(side, level) for level in range(1, LEVELS + 1) for side in ("buy", "sell")]
        said = 0
        while not stop.is_set():
            await self.socket.until_ready()
            await asyncio.gather(*(self.keep(place) for place in places))
            if self.resting() == len(places) and said != self.socket.connections:
                said = self.socket.connections
                print(f"{len(places)} quotes by connection {said}", flush=True)
            await asyncio.sleep(0.25)
        while True:
            try:
                if (await self.socket.cancel_all(market=MARKET))["left"] == 0 and self.is_over():
                    break
            except Unknown:
                pass
            await asyncio.sleep(0.25)

    def is_over(self) -> bool:
        return all(order["final"] for order in self.states.values())


def moved(fills) -> tuple:
    """cNGN and USDC that fills moved, fees included; exact."""
    cngn, usdc = Decimal(0), Decimal(0)
    for fill in fills:
        sign = 1 if fill["side"] == "buy" else -1
        price, size = Decimal(fill["price"]), Decimal(fill["size"])
        cngn += sign * size
        usdc -= sign * price * size + Decimal(fill["fee"])
    return cngn, usdc


def holdings(rest: Rest, frame: dict, subaccount: str) -> tuple:
    accounts = rest.get(f"/v1/balances?subaccount_id={subaccount}", frame)["accounts"]
    totals = {token["token"]: Decimal(token["total"]) for token in accounts[0]["tokens"]}
    return totals["cNGN"], totals["USDC"]


async def main() -> None:
    devnet = read_devnet()
    rest, account = Rest(devnet["gateway_url"]), devnet["accounts"][3]
    key, subaccount = Key(account["private_key"]), account["spot_subaccount_id"]
    venue = rest.get("/v1/venue")
    print(f"{check_vectors(rest)} signing vectors agree")
    frame = signed_frame(venue, key, "history", 3600)
    market = next(one for one in rest.get("/v1/markets") if one["market"] == MARKET)
    before = holdings(rest, frame, subaccount)
    quoter = Quoter(rest, venue, market, key, subaccount)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, stop.set)
    quoter.socket.start()
    await quoter.run(stop)

    def read_chain() -> tuple:
        pages = rest.pages("/v1/fills", "fills", frame)
        history = [fill for fill in pages if fill["order_id"].startswith(quoter.name) and not fill.get("reversed")]
        after = holdings(rest, frame, subaccount)
        return history, (after[0] - before[0], after[1] - before[1])

    while True:
        try:
            history, difference = await asyncio.to_thread(read_chain)
        except Unknown:
            history, difference = [], None
        settled = [fill for fill in quoter.fills.values() if fill["status"] == "settled"]
        if moved(history) == moved(settled) == difference:
            break
        await asyncio.sleep(0.25)
    quoter.socket.stop()
    print(f"{len(history)} fills moved {difference[0]:f} cNGN, {difference[1]:f} USDC; so says the chain")


if __name__ == "__main__":
    asyncio.run(main())
