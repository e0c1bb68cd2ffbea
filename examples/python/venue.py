"""What a Python program needs of the venue: signatures, REST, and the socket that reconnects and resumes.

Needs Python 3.9 and three packages, on Debian 12 and 13: python3-pycryptodome python3-ecdsa python3-websockets.
With pip: pycryptodomex ecdsa websockets.
"""
import asyncio
import base64
import hashlib
import itertools
import json
import os
import secrets
import sys
import time
import urllib.error
import urllib.request
from decimal import Decimal
from typing import NamedTuple

try:
    import websockets
    from Cryptodome.Hash import keccak as keccak_hash  # Debian's name of the module, and that of pycryptodomex
    from ecdsa import SECP256k1, SigningKey, util
except ModuleNotFoundError as missing:
    sys.exit(f"{missing}: apt-get install python3-pycryptodome python3-ecdsa python3-websockets")


class Refused(Exception):
    """The venue refused the request and changed nothing; the same would be refused again."""

    def __init__(self, status: int, body: dict):
        super().__init__(f"{status} {body.get('code')}: {body.get('error') or body.get('message')}")
        self.status, self.body, self.code = status, body, body.get("code")


class Unknown(Exception):
    """It is not known what became of the request: send the same again after `retry_after` seconds."""

    def __init__(self, why: str, retry_after: float = 1):
        super().__init__(why)
        self.retry_after = retry_after


class Terms(NamedTuple):
    """What an order asks for, as the engine states it: decimal texts."""

    side: str
    price: str
    size: str


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


# Statuses below 500 that pass by themselves.
PASSING = (408, 429)
MAX_AUTH_ATTEMPTS = 3


class Rest:
    """The venue's REST interface at an address like http://127.0.0.1:8080. Raises Refused and Unknown."""

    def __init__(self, base: str):
        self.base = base.rstrip("/")

    def get(self, path: str, frame=None):
        return self._send(urllib.request.Request(self.base + path, None, self._own(frame)))

    def post(self, path: str, body: dict, frame=None):
        headers = {"content-type": "application/json", **self._own(frame)}
        return self._send(urllib.request.Request(self.base + path, json.dumps(body).encode(), headers))

    def pages(self, path: str, rows: str, frame):
        """All rows of a history, newest first."""
        before = ""
        while True:
            page = self.get(f"{path}{'&' if '?' in path else '?'}limit=100{before}", frame)
            yield from page[rows]
            if "next_before" not in page:
                return
            before = f"&before={page['next_before']}"

    @staticmethod
    def _own(frame) -> dict:
        if frame is None:
            return {}
        text = base64.urlsafe_b64encode(json.dumps(frame).encode()).decode()
        return {"X-Service-Auth": text.rstrip("=")}

    @staticmethod
    def _send(request: urllib.request.Request):
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            text = error.read().decode()
            if error.code >= 500 or error.code in PASSING:
                raise Unknown(f"{error.code} {text}", float(error.headers.get("retry-after") or 1)) from error
            raise Refused(error.code, json.loads(text)) from error
        except OSError as error:
            raise Unknown(f"no answer: {error}") from error


def check_vectors(rest: Rest) -> int:
    """Compares every step of every vector with what this file computes."""
    vectors = rest.get("/v1/signing-vectors.json")
    key = Key(vectors["private_key"])
    for vector in vectors["vectors"]:
        if vector["scheme"] == "eip712":
            digest = typed_digest(vector["domain"], vector["type"], vector["message"])
        else:
            digest = text_digest(vector["text"])
        assert "0x" + digest.hex() == vector["digest"], vector["name"]
        assert key.sign(digest) == vector["signature"], vector["name"]
    return len(vectors["vectors"])


def signed_order(
    venue: dict, market: dict, key: Key, subaccount: str, terms: Terms, name: str = "python", **options
) -> dict:
    """The body of POST /v1/orders, in engine terms; `options` are further fields, such as post_only."""
    side, price, size = terms
    facts = next(one for one in venue["markets"] if one["market"] == market["market"])
    limit_price = scaled(price)
    nonce = secrets.randbits(248)
    expiry = int(time.time()) + 300
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
        "order_id": f"{name}-{nonce}",
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
        **options,
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


def signed_frame(venue: dict, key: Key, purpose: str, seconds: int = 240) -> dict:
    """Proves the address; `purpose` is history or socket."""
    issued_at = int(time.time())
    frame = {"address": key.address, "nonce": secrets.token_hex(16)}
    frame.update(issued_at=issued_at, expiry=issued_at + seconds)
    text = venue["frames"][purpose]["text"].format(**frame)
    return {**frame, "signature": key.sign(text_digest(text))}


class Socket:
    """One WebSocket for everything: it reconnects, authenticates and resumes each channel, and enters orders.

    `handle(channel, frame)` is called for each snapshot and update, each once and in order. A connection that is lost
    ends what waits for an answer with Unknown.
    """

    def __init__(self, base: str, venue: dict, key: Key, handle, dead_man_seconds: int = 60):
        self._url = base.rstrip("/").replace("http", "ws", 1) + "/v1/ws"
        self._venue, self._key, self._handle = venue, key, handle
        self._dead_man_seconds = dead_man_seconds
        self._channels, self._seqs, self._waiting = [], {}, {}
        self._ids = itertools.count(1)
        self._socket = self._running = None
        self.connections = self._refusals = 0
        self.ready = asyncio.Event()

    def follow(self, channel: str, market: str) -> None:
        """Before `start`."""
        self._channels.append((channel, market))

    def start(self) -> None:
        """Connects, and keeps the connection until `stop`."""
        self._running = asyncio.create_task(self._run())

    def stop(self) -> None:
        self._running.cancel()

    async def until_ready(self) -> None:
        """Returns while the socket is authenticated. Raises Refused where the venue refuses the key."""
        ready = asyncio.ensure_future(self.ready.wait())
        await asyncio.wait({ready, self._running}, return_when=asyncio.FIRST_COMPLETED)
        if self._running.done():
            ready.cancel()
            self._running.result()

    async def _run(self) -> None:
        delay = 0.25
        while True:
            try:
                async with websockets.connect(self._url, max_size=None) as socket:
                    delay = 0.25
                    await self._serve(socket)
            except (OSError, asyncio.TimeoutError, websockets.exceptions.WebSocketException):
                pass
            finally:
                self._lost()
            await asyncio.sleep(delay * (0.5 + secrets.randbelow(500) / 1000))
            delay = min(2 * delay, 10)

    async def order(self, op: str, order: dict) -> dict:
        """Sends a place, replace, reduce or cancel; returns the order. Raises Refused and Unknown."""
        return (await self.request({"op": op, "order": order}))["order"]

    async def cancel_all(self, **scope) -> dict:
        """Cancels all orders of the key, or those of a market, side or subaccount_id."""
        return await self.request({"op": "cancel_all", **scope})

    async def request(self, frame: dict, within: float = 10) -> dict:
        if not self.ready.is_set():
            raise Unknown("there is no connection")
        name = f"order-{next(self._ids)}"
        answer = self._waiting[name] = asyncio.get_running_loop().create_future()
        try:
            await self._socket.send(json.dumps({**frame, "req_id": name}))
            return await asyncio.wait_for(answer, within)
        except (asyncio.TimeoutError, websockets.exceptions.WebSocketException) as error:
            raise Unknown("no answer in time") from error
        finally:
            self._waiting.pop(name, None)

    async def _serve(self, socket) -> None:
        auth = {"op": "auth", **signed_frame(self._venue, self._key, "socket"), "req_id": "auth"}
        await socket.send(json.dumps(auth))
        renewing = None
        try:
            async for text in socket:
                frame = json.loads(text)
                name = frame.get("req_id")
                if name == "auth":
                    if frame["type"] == "error":
                        self._refusals += 1
                        if self._refusals < MAX_AUTH_ATTEMPTS:
                            return
                        raise Refused(frame.get("status", 401), frame)
                    self._refusals = 0
                    self._socket = socket
                    for channel, market in self._channels:
                        await socket.send(json.dumps(self._subscription(channel, market)))
                    renewing = asyncio.create_task(self._renew(socket))
                    self.connections += 1
                    self.ready.set()
                elif name in self._waiting:
                    self._settle(self._waiting[name], frame)
                elif frame["type"] in ("snapshot", "update"):
                    if not self._apply(frame):
                        return
        finally:
            if renewing is not None:
                renewing.cancel()

    def _subscription(self, channel: str, market: str) -> dict:
        frame = {"op": "subscribe", "channel": channel, "market": market}
        seq = self._seqs.get((channel, market))
        return frame if seq is None else {**frame, "since_seq": seq}

    def _apply(self, frame: dict) -> bool:
        """False where something was missed: a new connection resumes."""
        stream = frame["channel"], frame["market"]
        if frame["type"] == "update":
            seq = self._seqs.get(stream, 0)
            if frame["seq"] <= seq:
                return True
            if frame["prev_seq"] > seq:
                return False
        self._seqs[stream] = frame["seq"]
        self._handle(frame["channel"], frame)
        return True

    async def _renew(self, socket) -> None:
        """The dead man's switch: all orders are cancelled when this program is gone for so long."""
        while True:
            await socket.send(json.dumps({"op": "cancel_all_after", "seconds": self._dead_man_seconds}))
            await asyncio.sleep(self._dead_man_seconds / 3)

    @staticmethod
    def _settle(answer, frame: dict) -> None:
        status = frame.get("status", 400)
        if answer.done():
            return
        if status == 200:
            answer.set_result(frame)
        elif status >= 500 or status in PASSING:
            answer.set_exception(Unknown(frame.get("code", "unknown"), frame.get("retry_after_seconds", 1)))
        else:
            answer.set_exception(Refused(status, frame))

    def _lost(self) -> None:
        self.ready.clear()
        self._socket = None
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(Unknown("the connection is lost"))


def read_devnet() -> dict:
    """The description of a running devnet: the program's argument, by default in DATA_DIR, or var."""
    usual = os.path.join(os.environ.get("DATA_DIR") or "var", "devnet.json")
    path = sys.argv[1] if len(sys.argv) > 1 else usual
    if not os.path.exists(path):
        sys.exit(f"there is no {path}: run ./venue up, with the same DATA_DIR")
    with open(path, encoding="utf-8") as file:
        return json.load(file)
