import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import Database from 'better-sqlite3'
import Koa from 'koa'
import { AckPolicy, connect, type JsMsg } from 'nats'
import { OrderBook, Side } from 'nodejs-order-book'
import getRawBody from 'raw-body'
import { recoverTypedDataAddress } from 'viem'
import { WebSocketServer } from 'ws'
import type { OrderBody } from '../client/index.js'
import { signingDomain } from '../client/sign-order.js'
import type { Address, Hex } from '../core/action.js'

/**
 * The peer of the order path, one process that combines good packages in the plainest way: a JSON body, viem for the
 * signature, one awaited publish for each order, a consumer that acknowledges each, `nodejs-order-book`, a transaction
 * for each row, JSON for each subscriber and for the answer. Arguments: address of the bus, path of its database, chain
 * id and matching contract.
 */
const [url = '', path = '', chainId = '0', matching = '0x'] = process.argv.slice(2)
const PUBLISH_WITHIN_MS = 30_000
const connection = await connect({ servers: url })
const manager = await connection.jetstreamManager()
await manager.streams.add({ name: 'NAIVE', subjects: ['naive.orders'] })
await manager.consumers.add('NAIVE', { durable_name: 'matcher', ack_policy: AckPolicy.Explicit })
const stream = connection.jetstream({ timeout: PUBLISH_WITHIN_MS })
const book = new OrderBook()
const db = new Database(path)
db.pragma('journal_mode = WAL')
db.pragma('synchronous = FULL')
db.exec(`CREATE TABLE "order" (order_id TEXT PRIMARY KEY, owner TEXT NOT NULL, nonce TEXT NOT NULL,
  status TEXT NOT NULL, body TEXT NOT NULL, UNIQUE (owner, nonce)) WITHOUT ROWID`)
const insert = db.prepare('INSERT INTO "order" VALUES (?, ?, ?, ?, ?)')
const find = db.prepare<[string, string], { order_id: string; body: string }>(
  'SELECT order_id, body FROM "order" WHERE owner = ? AND nonce = ?',
)
const update = db.prepare('UPDATE "order" SET status = ? WHERE order_id = ?')

const types = {
  Action: [
    { name: 'subaccountId', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'module', type: 'address' },
    { name: 'data', type: 'bytes' },
    { name: 'expiry', type: 'uint256' },
    { name: 'owner', type: 'address' },
    { name: 'signer', type: 'address' },
  ],
} as const
const domain = signingDomain({ chainId: Number(chainId), matching: matching as Address })

async function isSigned({ action_json: json, signature }: OrderBody): Promise<boolean> {
  const message = {
    subaccountId: BigInt(json.subaccount_id),
    nonce: BigInt(json.nonce),
    module: json.module as Address,
    data: json.data as Hex,
    expiry: BigInt(json.expiry),
    owner: json.owner as Address,
    signer: json.signer as Address,
  }
  const typed = { domain, types, primaryType: 'Action', message } as const
  const recovered = await recoverTypedDataAddress({ ...typed, signature: signature as Hex })
  return recovered.toLowerCase() === json.signer.toLowerCase()
}

/** An entry of the log: an order, or a cancel. */
type Logged =
  | { readonly kind: 'place'; readonly order: OrderBody }
  | { readonly kind: 'cancel'; readonly owner_address: string; readonly nonce: string }

/** Requests that wait for the match of a sequence, and results that arrived before their request waited. */
const waiting = new Map<number, (record: unknown) => void>()
const early = new Map<number, unknown>()

/** Answers once the log has stored it and the consumer has matched it. */
async function carry(logged: Logged): Promise<unknown> {
  const { seq } = await stream.publish('naive.orders', JSON.stringify(logged))
  if (!early.has(seq)) return new Promise((resolve) => waiting.set(seq, resolve))
  const record = early.get(seq)
  early.delete(seq)
  return record
}

async function place(order: OrderBody): Promise<unknown> {
  return (await isSigned(order)) ? carry({ kind: 'place', order }) : undefined
}

const cancel = ({ owner_address, nonce }: OrderBody): Promise<unknown> =>
  carry({ kind: 'cancel', owner_address, nonce })

function match(logged: Logged): object | undefined {
  if (logged.kind === 'cancel') return matchCancel(logged.owner_address, logged.nonce)
  const { order } = logged
  const { order_id: id, side, desired_amount: amount, limit_price: price } = order
  book.limit({
    id,
    side: side === 'buy' ? Side.BUY : Side.SELL,
    size: Number(amount),
    price: Number(price),
  })
  const { owner_address: owner, nonce } = order
  insert.run(id, owner.toLowerCase(), nonce, 'active', JSON.stringify(order))
  return { ...order, status: 'active' }
}

function matchCancel(owner: string, nonce: string): object | undefined {
  const found = find.get(owner.toLowerCase(), nonce)
  if (found === undefined) return undefined
  book.cancel(found.order_id)
  update.run('cancelled', found.order_id)
  return { ...(JSON.parse(found.body) as OrderBody), status: 'cancelled' }
}

let changes = 0
function consume(message: JsMsg): void {
  const order = match(message.json<Logged>())
  changes += 1
  for (const client of sockets.clients) {
    client.send(JSON.stringify({ channel: 'book', seq: changes, data: order }))
  }
  message.ack()
  const record = order && { order }
  const resolve = waiting.get(message.seq)
  waiting.delete(message.seq)
  if (resolve === undefined) early.set(message.seq, record)
  else resolve(record)
}

const app = new Koa()
app.use(async (ctx) => {
  const order = JSON.parse(await getRawBody(ctx.req, { encoding: 'utf8' })) as OrderBody
  ctx.body = await (ctx.path === '/v1/orders' ? place(order) : cancel(order))
  if (ctx.body === undefined) ctx.throw(400, `${ctx.path} ${order.nonce}: ${changes} changes`)
})
const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
const sockets = new WebSocketServer({ server })
await (
  await stream.consumers.get('NAIVE', 'matcher')
).consume({
  callback: (message) => {
    try {
      consume(message)
    } catch (error) {
      // The client library would ignore the exception.
      console.error(error)
      process.exit(1)
    }
  },
})
process.send?.((server.address() as AddressInfo).port)
process.once('disconnect', () => process.exit(0))
