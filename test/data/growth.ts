import { randomBytes } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { encodeBlock } from '../../bus-schemas/blocks.js'
import { commandMessages } from '../../bus-schemas/commands.js'
import { commandsSubject, feedSubject } from '../../bus-schemas/subjects.js'
import { applyMessage } from '../../core/engine/apply-message.js'
import type { Block, Change } from '../../core/model/change.js'
import type { Command } from '../../core/model/command.js'
import { SEGMENT_MESSAGES, writeSegment } from '../../data/feed-archive.js'
import { openIntakeRegistry, type OrderClaim } from '../../data/intake-registry.js'
import { claimOf } from '../../data/recent-claims.js'
import { aMarket, openedState } from '../support/builders.js'
import { openHistory, streamed } from '../support/history.js'
import { commandOf, START_MS, type MarketAct } from '../support/market-commands.js'
import { randomNumbers } from '../support/random-numbers.js'
import { tempDir } from '../support/temp-dir.js'

/**
 * Prints what a million orders take on disk: `node dist/test/data/growth.js 20000` makes so many orders of a spot market, of which one
 * in eight acts is a cancel, settles each match, and weighs the messages, databases and archive that follow.
 */
const ORDERS = Number(process.argv[2] ?? 20_000)
/** What the file store of nats-server adds to a message beside its subject: header, checksum. */
const RECORD_BYTES = 30

const market = aMarket()
const target = { market: market.market, ordinal: market.ordinal }
const state = openedState(target)
const random = randomNumbers(1)
const { encode } = commandMessages(market)
const settlementIds: string[] = []
const changes: Change[] = []
const blocks: Block[] = []
const claims: OrderClaim[] = []
const nonceOf = (order: number): bigint => 1_795_410_689_770_000n + BigInt(order)
let [nowMs, placed, commands, commandBytes] = [START_MS, 0, 0, 0]

function nextAct(): MarketAct {
  const kind = random(8)
  if (kind === 7) return { act: 'wait', sec: 1 }
  if (kind === 6) return { act: 'cancel', pick: Math.max(0, placed - 1 - random(100)) }
  const terms = { price: 90 + random(20), size: 1 + random(5), trader: 1 + random(4) }
  return { act: 'place', buy: random(2) === 0, ...terms, livesSec: 3_600, unchecked: false }
}

/** The command as clients send it: ids, nonces and signatures of their usual length. */
function usual(command: Command, act: MarketAct): Command {
  if (command.kind === 'CancelOrder' && act.act === 'cancel')
    return { ...command, nonce: nonceOf(act.pick + 1) }
  if (command.kind !== 'PlaceOrder') return command
  placed += 1
  const signature = `0x${randomBytes(65).toString('hex')}` as const
  const own = { orderId: `growth-abcdef-${placed}`, market: market.market, signature }
  const order = { ...command.order, ...own, nonce: nonceOf(placed) }
  claims.push(claimOf(market, order))
  return { ...command, order }
}

function apply(act: MarketAct): void {
  if (act.act === 'wait') nowMs += act.sec * 1_000
  const command = usual(commandOf(act, { placed, nowMs, settlementIds, changes }), act)
  commands += 1
  const logged = { source: 'intake', sourceNo: commands, atMs: nowMs, command }
  commandBytes += encode([logged]).length + commandsSubject(market.market).length + RECORD_BYTES
  for (const { block } of applyMessage(state, commands, [logged])) {
    if (block === undefined) continue
    blocks.push(block)
    changes.push(...block.changes)
    for (const change of block.changes)
      if (change.kind === 'OrderMatched') settlementIds.push(change.match.settlementId)
  }
}

while (placed < ORDERS) {
  apply(nextAct())
  for (const id of [...state.matches.keys()])
    apply({ act: 'settle', pick: settlementIds.indexOf(id), outcome: 'success' })
}

const messages = blocks.map((block, index) => ({
  seq: index + 1,
  subject: feedSubject(market.market),
  storedAtMs: nowMs,
  data: encodeBlock(block),
}))
const recordBytes = feedSubject(market.market).length + RECORD_BYTES
const feedBytes = messages.reduce((sum, { data }) => sum + data.length + recordBytes, 0)

const dir = tempDir()
const facts = { last_change: changes.length, waiting: 0, reviewed_at_ms: 0, matched: [] }
for (let at = 0; at < messages.length; at += SEGMENT_MESSAGES)
  await writeSegment(dir.path, 'feed', {
    messages: messages.slice(at, at + SEGMENT_MESSAGES),
    ...facts,
  })
const archived = readdirSync(join(dir.path, 'feed'))
  .map((name) => statSync(join(dir.path, 'feed', name)).size)
  .reduce((sum, bytes) => sum + bytes, 0)

const history = openHistory([target])
const all = streamed(blocks)
for (let at = 0; at < all.length; at += 500) history.projection.applyBatch(all.slice(at, at + 500))
history.db.pragma('wal_checkpoint(TRUNCATE)')
const registryFile = join(dir.path, 'intake.db')
const registry = openIntakeRegistry(registryFile)
for (const [index, claim] of claims.entries())
  registry.fold(market.market, [claim], { streamSeq: index + 1, lastNo: index + 1 })
await registry.close()

const fills = changes.filter(({ kind }) => kind === 'OrderFilled').length / 2
console.log(`${placed} orders, ${fills} trades, ${changes.length} changes, ${commands} commands`)
const sizes = {
  'command log': commandBytes,
  feed: feedBytes,
  archive: archived,
  'history.db': statSync(history.path).size,
  'intake.db': statSync(registryFile).size,
}
for (const [what, bytes] of Object.entries(sizes))
  console.log(`${what}: ${Math.round(bytes / placed)} MB of a million orders`)
history.remove()
dir.remove()
