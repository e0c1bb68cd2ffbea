import { z } from 'zod'
import { assert } from '../core/assert.js'
import type { Command, LoggedCommand, SettlementOutcome } from '../core/command.js'
import type { BusMessage } from './bus.js'
import { accountFromWire, accountToWire, accountWire } from './account-wire.js'
import { reversalFromWire, reversalToWire, reversalWire } from './reversal-wire.js'
import { orderFromWire, orderToWire, orderWire } from './order-wire.js'
import {
  MAX_MESSAGE_BYTES,
  WIRE_VERSION,
  addressText,
  asAddress,
  asHex,
  bytesOf,
  decodeMessage,
  hexText,
  uintText,
  wholeNumber,
} from './wire.js'

/** Most commands in one message of the log; one fsync carries them all. */
export const MAX_COMMANDS_PER_MESSAGE = 256

const outcomeWire = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('success'), tx_hash: hexText, block_number: uintText }),
  z.strictObject({
    kind: z.literal('reverted'),
    revert: z.string(),
    guilty: z.enum(['maker', 'taker', 'both']),
    tx_hash: hexText.exactOptional(),
  }),
])
type OutcomeWire = z.infer<typeof outcomeWire>

const commandWire = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('PlaceOrder'),
    order: orderWire,
    account: accountWire.exactOptional(),
  }),
  z.strictObject({
    kind: z.literal('CancelOrder'),
    owner: addressText,
    nonce: uintText,
    reason: z.string(),
  }),
  z.strictObject({ kind: z.literal('Tick') }),
  z.strictObject({ kind: z.literal('ContinueOrder'), order_id: z.string() }),
  z.strictObject({
    kind: z.literal('SignatureChecked'),
    order_id: z.string(),
    valid: z.boolean(),
  }),
  z.strictObject({ kind: z.literal('AccountObserved'), account: accountWire }),
  z.strictObject({
    kind: z.literal('SettlementReported'),
    settlement_id: z.string(),
    outcome: outcomeWire,
  }),
  z.strictObject({ kind: z.literal('SettlementReversed'), reversal: reversalWire }),
  z.strictObject({ kind: z.literal('ReversalsRead'), up_to: wholeNumber }),
])
type CommandWire = z.infer<typeof commandWire>

const loggedCommandWire = z.strictObject({
  source: z.string(),
  source_no: wholeNumber,
  at_ms: wholeNumber,
  reply_to: z.string().exactOptional(),
  request_id: z.string().exactOptional(),
  command: commandWire,
})
type LoggedCommandWire = z.infer<typeof loggedCommandWire>

const commandMessage = z.strictObject({
  v: z.literal(WIRE_VERSION),
  commands: z.array(loggedCommandWire).min(1).max(MAX_COMMANDS_PER_MESSAGE),
})

/** One message of a market's command log. All of the commands must fit; split longer runs with encodeCommandGroup. */
export function encodeCommands(commands: readonly LoggedCommand[]): Uint8Array {
  const { data, count } = encodeCommandGroup(commands)
  assert(count === commands.length, `${commands.length} commands do not fit one message`)
  return data
}

/**
 * One message holding as many of the leading commands as its limits allow, at least one, and how many those are: what
 * a writer does with the queue that has gathered while its previous append was under way.
 */
export function encodeCommandGroup(commands: readonly LoggedCommand[]): {
  readonly data: Uint8Array
  readonly count: number
} {
  const head = `{"v":${WIRE_VERSION},"commands":[`
  const tail = ']}'
  const texts: string[] = []
  let bytes = head.length + tail.length
  for (const command of commands.slice(0, MAX_COMMANDS_PER_MESSAGE)) {
    const text = JSON.stringify(loggedCommandToWire(command))
    bytes += Buffer.byteLength(text) + 1
    if (bytes > MAX_MESSAGE_BYTES) break
    texts.push(text)
  }
  assert(texts.length > 0, 'no command to encode, or the first one exceeds a whole message')
  return { data: bytesOf(head + texts.join(',') + tail), count: texts.length }
}

/** The inverse of encodeCommands. Throws MalformedMessage, or InvariantBroken on an unknown version. */
export function decodeCommands(data: Uint8Array): LoggedCommand[] {
  return decodeMessage('commands', commandMessage, data).commands.map(loggedCommandFromWire)
}

/** How far a writer's clock may be ahead of the bus's; both are kept by the same time service. */
export const MAX_CLOCK_AHEAD_MS = 5_000

/**
 * The commands of a message as the market takes them. Market time is the greatest in the log and never goes back, so one
 * clock far ahead would expire every order at once: a time that is more than MAX_CLOCK_AHEAD_MS beyond the moment at
 * which the bus stored the message is not believed, that moment stands in for it. Both are part of the log, so every
 * fold of it decides alike. `onAhead` is told of each. Throws as decodeCommands.
 */
export function commandsOf(
  { data, storedAtMs }: Pick<BusMessage, 'data' | 'storedAtMs'>,
  onAhead: (logged: LoggedCommand, storedAtMs: number) => void = () => undefined,
): LoggedCommand[] {
  return decodeCommands(data).map((logged) => {
    if (logged.atMs <= storedAtMs + MAX_CLOCK_AHEAD_MS) return logged
    onAhead(logged, storedAtMs)
    return { ...logged, atMs: storedAtMs }
  })
}

function loggedCommandToWire(logged: LoggedCommand): LoggedCommandWire {
  return {
    source: logged.source,
    source_no: logged.sourceNo,
    at_ms: logged.atMs,
    ...(logged.replyTo !== undefined && { reply_to: logged.replyTo }),
    ...(logged.requestId !== undefined && { request_id: logged.requestId }),
    command: commandToWire(logged.command),
  }
}

function loggedCommandFromWire(wire: LoggedCommandWire): LoggedCommand {
  return {
    source: wire.source,
    sourceNo: wire.source_no,
    atMs: wire.at_ms,
    ...(wire.reply_to !== undefined && { replyTo: wire.reply_to }),
    ...(wire.request_id !== undefined && { requestId: wire.request_id }),
    command: commandFromWire(wire.command),
  }
}

function commandToWire(command: Command): CommandWire {
  const { kind } = command
  switch (kind) {
    case 'PlaceOrder':
      return {
        kind,
        order: orderToWire(command.order),
        ...(command.account !== undefined && { account: accountToWire(command.account) }),
      }
    case 'CancelOrder':
      return { kind, owner: command.owner, nonce: String(command.nonce), reason: command.reason }
    case 'Tick':
      return { kind }
    case 'ContinueOrder':
      return { kind, order_id: command.orderId }
    case 'SignatureChecked':
      return { kind, order_id: command.orderId, valid: command.valid }
    case 'AccountObserved':
      return { kind, account: accountToWire(command.account) }
    case 'SettlementReversed':
      return { kind, reversal: reversalToWire(command.reversal) }
    case 'ReversalsRead':
      return { kind, up_to: command.upTo }
    case 'SettlementReported':
      return {
        kind,
        settlement_id: command.settlementId,
        outcome: outcomeToWire(command.outcome),
      }
  }
}

function commandFromWire(wire: CommandWire): Command {
  const { kind } = wire
  switch (kind) {
    case 'PlaceOrder':
      return {
        kind,
        order: orderFromWire(wire.order),
        ...(wire.account !== undefined && { account: accountFromWire(wire.account) }),
      }
    case 'CancelOrder':
      return { kind, owner: asAddress(wire.owner), nonce: BigInt(wire.nonce), reason: wire.reason }
    case 'Tick':
      return { kind }
    case 'ContinueOrder':
      return { kind, orderId: wire.order_id }
    case 'SignatureChecked':
      return { kind, orderId: wire.order_id, valid: wire.valid }
    case 'AccountObserved':
      return { kind, account: accountFromWire(wire.account) }
    case 'SettlementReversed':
      return { kind, reversal: reversalFromWire(wire.reversal) }
    case 'ReversalsRead':
      return { kind, upTo: wire.up_to }
    case 'SettlementReported':
      return { kind, settlementId: wire.settlement_id, outcome: outcomeFromWire(wire.outcome) }
  }
}

function outcomeToWire(outcome: SettlementOutcome): OutcomeWire {
  const { kind } = outcome
  if (kind === 'success') {
    return { kind, tx_hash: outcome.txHash, block_number: String(outcome.blockNumber) }
  }
  return {
    kind,
    revert: outcome.revert,
    guilty: outcome.guilty,
    ...(outcome.txHash !== undefined && { tx_hash: outcome.txHash }),
  }
}

function outcomeFromWire(wire: OutcomeWire): SettlementOutcome {
  const { kind } = wire
  if (kind === 'success') {
    return { kind, txHash: asHex(wire.tx_hash), blockNumber: BigInt(wire.block_number) }
  }
  return {
    kind,
    revert: wire.revert,
    guilty: wire.guilty,
    ...(wire.tx_hash !== undefined && { txHash: asHex(wire.tx_hash) }),
  }
}
