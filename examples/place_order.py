#!/usr/bin/env python3
"""Signs, places, follows and cancels an order on the spot market, in Python, from the venue's own description.

What to sign is read from GET /v1/venue and compared with GET /v1/signing-vectors.json before anything is sent.
Needs Python 3.9 and three packages, on Debian 12 and 13: python3-pycryptodome python3-ecdsa python3-websockets.
With pip: pycryptodomex ecdsa websockets.

    python3 examples/place_order.py [path of devnet.json; by default in DATA_DIR, or var]
"""
import asyncio
import base64
import hashlib
import json
import os
import secrets
import sys
import time
import urllib.error
import urllib.request
from decimal import Decimal

if {"-h", "--help"} & set(sys.argv[1:]):
    print(__doc__)
    sys.exit()

try:
    import websockets
    from Cryptodome.Hash import keccak as keccak_hash  # Debian's name of the module, and that of pycryptodomex
    from ecdsa import SECP256k1, SigningKey, util
except ModuleNotFoundError as missing:
    sys.exit(f"{missing}: apt-get install python3-pycryptodome python3-ecdsa python3-websockets")

MARKET = "cNGN-USDC"


def keccak(data: bytes) -> bytes:
    return keccak_hash.new(digest_bits=256, data=data).digest()


class Key:
    """A private key that signs digests as the chain checks them: 65 bytes, v 27 or 28, low s."""

    def __init__(self, private_key: str):
        self._key = SigningKey.from_string(bytes.fromhex(private_key[2:]), curve=SECP256k1)
        self._public = self._key.verifying_key.to_string()
        self.address = "0x" + keccak(self._public)[-20:].hex()

    def sign(self, digest: bytes) -> str:
        order = SECP256k1.order
        r, s = self._key.sign_digest_deterministic(
            digest, hashfunc=hashlib.sha256, sigencode=lambda r, s, _: (r, s)
        )
        s = min(s, order - s)
        raw = util.sigencode_string(r, s, order)
        candidates = self._key.verifying_key.from_public_key_recovery_with_digest(
            raw, digest, SECP256k1, sigdecode=util.sigdecode_string
        )
        recovery = [key.to_string() for key in candidates].index(self._public)
        return "0x" + raw.hex() + bytes([27 + recovery]).hex()


def word(value) -> bytes:
    """One 32-byte word: an integer, a boolean, or an address as hex text."""
    number = int(value, 16) if isinstance(value, str) and value.startswith("0x") else int(value)
    return number.to_bytes(32, "big")


def hash_struct(type_string: str, message: dict) -> bytes:
    """The hash of a struct of words, strings and bytes, whose fields the type string names."""
    fields = [field.split(" ") for field in type_string[type_string.index("(") + 1 : -1].split(",")]
    encoded = keccak(type_string.encode())
    for kind, name in fields:
        value = message[name]
        if kind == "string":
            encoded += keccak(value.encode())
        elif kind == "bytes":
            encoded += keccak(bytes.fromhex(value[2:]))
        else:
            encoded += word(value)
    return keccak(encoded)


DOMAIN_TYPE = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"


def typed_digest(domain: dict, type_string: str, message: dict) -> bytes:
    """The EIP-712 digest."""
    return keccak(b"\x19\x01" + hash_struct(DOMAIN_TYPE, domain) + hash_struct(type_string, message))


def text_digest(text: str) -> bytes:
    """The EIP-191 digest that personal_sign signs."""
    data = text.encode()
    return keccak(b"\x19Ethereum Signed Message:\n" + str(len(data)).encode() + data)


def scaled(text: str, scale: int = 10**18) -> int:
    """A decimal as an integer; exact, as the venue demands."""
    value = Decimal(text) * scale
    if value != int(value):
        raise ValueError(f"{text} is finer than the scale")
    return int(value)


def request(base: str, path: str, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"content-type": "application/json"}
    try:
        with urllib.request.urlopen(urllib.request.Request(base + path, data, headers)) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise SystemExit(f"{path}: {error.code} {error.read().decode()}") from error


def check_vectors(base: str) -> int:
    """Compares every step of every vector with what this file computes."""
    vectors = request(base, "/v1/signing-vectors.json")
    key = Key(vectors["private_key"])
    for vector in vectors["vectors"]:
        if vector["scheme"] == "eip712":
            digest = typed_digest(vector["domain"], vector["type"], vector["message"])
        else:
            digest = text_digest(vector["text"])
        assert "0x" + digest.hex() == vector["digest"], vector["name"]
        assert key.sign(digest) == vector["signature"], vector["name"]
    return len(vectors["vectors"])


def signed_order(venue: dict, market: dict, key: Key, account: dict, side: str, price: str, size: str) -> dict:
    """The body of POST /v1/orders, in engine terms."""
    facts = next(one for one in venue["markets"] if one["market"] == market["market"])
    limit_price = scaled(price)
    nonce = secrets.randbits(248)
    expiry = int(time.time()) + 300
    subaccount = account["spot_subaccount_id"]
    # The fee of one unit at 30 basis points, rounded up: headroom over the schedule.
    worst_fee = -(-limit_price * 30 // 10_000)
    data = b"".join(
        word(value)
        for value in (
            market["asset_address"],
            market["sub_id"],
            limit_price,
            scaled(size, int(facts["amount_scale"])),
            worst_fee,
            subaccount,
            side == "buy",
        )
    )
    action = {
        "subaccount_id": subaccount,
        "nonce": str(nonce),
        "module": facts["trade_module_address"],
        "data": "0x" + data.hex(),
        "expiry": str(expiry),
        "owner": key.address,
        "signer": key.address,
    }
    message = {**action, "subaccountId": subaccount}
    digest = typed_digest(venue["domains"]["actions"], venue["types"]["action"], message)
    return {
        "order_id": f"python-{nonce}",
        "owner_address": key.address,
        "signer_address": key.address,
        "subaccount_id": subaccount,
        "recipient_id": subaccount,
        "nonce": str(nonce),
        "asset_address": market["asset_address"],
        "sub_id": market["sub_id"],
        "side": side,
        "limit_price": price,
        "desired_amount": size,
        "worst_fee": str(worst_fee),
        "expiry": expiry,
        "action_json": action,
        "signature": key.sign(digest),
    }


def signed_cancel(venue: dict, key: Key, nonce: str) -> dict:
    """The body of POST /v1/orders/cancel, with its proof."""
    expiry = int(time.time()) + 60
    message = {"owner": key.address, "signer": key.address, "nonce": nonce, "expiry": expiry}
    digest = typed_digest(venue["domains"]["actions"], venue["types"]["cancel"], message)
    return {
        "owner_address": key.address,
        "nonce": nonce,
        "signer_address": key.address,
        "expiry": expiry,
        "signature": key.sign(digest),
    }


def signed_frame(venue: dict, key: Key, purpose: str) -> dict:
    """Proves the address; `purpose` is history or socket."""
    issued_at = int(time.time())
    frame = {"address": key.address, "nonce": secrets.token_hex(16)}
    frame.update(issued_at=issued_at, expiry=issued_at + 240)
    text = venue["frames"][purpose]["text"].format(**frame)
    return {**frame, "signature": key.sign(text_digest(text))}


async def follow(base: str, venue: dict, key: Key, body: dict) -> None:
    """Follows the owner's orders while one is placed and cancelled."""
    async with websockets.connect(base.replace("http", "ws", 1) + "/v1/ws") as socket:
        await socket.send(json.dumps({"op": "auth", **signed_frame(venue, key, "socket"), "req_id": "auth"}))
        async for text in socket:
            frame = json.loads(text)
            if frame.get("req_id") == "auth":
                assert frame["type"] != "error", frame
                await socket.send(json.dumps({"op": "subscribe", "channel": "orders", "market": MARKET}))
            elif frame["type"] == "snapshot":
                await asyncio.to_thread(request, base, "/v1/orders", body)
            elif frame["type"] == "update":
                order = frame["data"]
                if order["order_id"] != body["order_id"]:
                    continue
                print(f"{order['order_id']} is {order['status']}")
                if order["status"] != "active":
                    return
                cancel = signed_cancel(venue, key, body["nonce"])
                await asyncio.to_thread(request, base, "/v1/orders/cancel", cancel)


def main() -> None:
    usual = os.path.join(os.environ.get("DATA_DIR") or "var", "devnet.json")
    path = sys.argv[1] if len(sys.argv) > 1 else usual
    if not os.path.exists(path):
        sys.exit(f"there is no {path}: run ./venue up, with the same DATA_DIR")
    with open(path, encoding="utf-8") as file:
        devnet = json.load(file)
    base, account = devnet["gateway_url"].rstrip("/"), devnet["accounts"][0]
    key = Key(account["private_key"])
    venue = request(base, "/v1/venue")
    print(f"{check_vectors(base)} signing vectors agree")
    market = next(one for one in request(base, "/v1/markets") if one["market"] == MARKET)
    # Buys 14,000 cNGN at a price far below the market, so that it rests.
    body = signed_order(venue, market, key, account, "buy", "0.0001", "14000")
    asyncio.run(asyncio.wait_for(follow(base, venue, key, body), 60))


if __name__ == "__main__":
    main()
