import { assert } from '../core/assert.js'
import type { Command, LoggedCommand, SettlementOutcome } from '../core/command.js'
import type { BusMessage } from './bus.js'
import { accountFromWire, accountToWire } from './account-wire.js'
import { orderFromWire, orderToWire } from './order-wire.js'
import { reversalFromWire, reversalToWire } from './reversal-wire.js'
import {
  assertClosed,
  fieldsOf,
  malformed,
  one,
  readAddress,
  readBoolean,
  readHex,
  readList,
  readOneOf,
  readText,
  readUint,
  readWhole,
} from './read-fields.js'
import { MAX_MESSAGE_BYTES, WIRE_VERSION, bytesOf, readMessage } from './wire.js'

/** Most commands in one message of the log; one fsync carries them all. */
export const MAX_COMMANDS_PER_MESSAGE = 256

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
  return readMessage('commands', commandsFromWire, data)
}

function commandsFromWire(message: object): LoggedCommand[] {
  const wire = fieldsOf<{ v: number; commands: unknown }>(message, 'message')
  const commands = readList(wire.commands, 'commands')
  if (commands.length === 0 || commands.length > MAX_COMMANDS_PER_MESSAGE) {
    malformed('commands', `a list of 1 to ${MAX_COMMANDS_PER_MESSAGE}`)
  }
  assertClosed(wire, 2, 'message')
  return commands.map(loggedCommandFromWire)
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

function loggedCommandToWire(logged: LoggedCommand) {
  return {
    source: logged.source,
    source_no: logged.sourceNo,
    at_ms: logged.atMs,
    reply_to: logged.replyTo,
    request_id: logged.requestId,
    command: commandToWire(logged.command),
  }
}

type LoggedCommandWire = ReturnType<typeof loggedCommandToWire>

function loggedCommandFromWire(value: unknown): LoggedCommand {
  const wire = fieldsOf<LoggedCommandWire>(value, 'command')
  const { reply_to, request_id } = wire
  const logged: { -readonly [K in keyof LoggedCommand]: LoggedCommand[K] } = {
    source: readText(wire.source, 'source'),
    sourceNo: readWhole(wire.source_no, 'source_no'),
    atMs: readWhole(wire.at_ms, 'at_ms'),
    command: commandFromWire(wire.command),
  }
  if (reply_to !== undefined) logged.replyTo = readText(reply_to, 'reply_to')
  if (request_id !== undefined) logged.requestId = readText(request_id, 'request_id')
  assertClosed(wire, 4 + one(reply_to) + one(request_id), 'command')
  return logged
}

/** Fields of any kind of command. */
type CommandFields = Record<
  'kind' | 'order' | 'account' | 'owner' | 'nonce' | 'reason' | 'order_id' | 'valid',
  unknown
> &
  Record<'settlement_id' | 'outcome' | 'reversal' | 'up_to', unknown>

function commandToWire(command: Command): Partial<CommandFields> {
  const { kind } = command
  switch (kind) {
    case 'PlaceOrder': {
      const { order, account } = command
      return {
        kind,
        order: orderToWire(order),
        account: account === undefined ? undefined : accountToWire(account),
      }
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

type ReadCommand<K extends Command['kind']> = (
  wire: Partial<CommandFields>,
) => Extract<Command, { kind: K }>

/** One reader for each kind of command; a kind without one does not compile. */
const COMMANDS: { readonly [K in Command['kind']]: ReadCommand<K> } = {
  PlaceOrder: (wire) => {
    const { account } = wire
    const order = orderFromWire(wire.order)
    assertClosed(wire, 2 + one(account), 'PlaceOrder')
    if (account === undefined) return { kind: 'PlaceOrder', order }
    return { kind: 'PlaceOrder', order, account: accountFromWire(account) }
  },
  CancelOrder: (wire) => {
    assertClosed(wire, 4, 'CancelOrder')
    return {
      kind: 'CancelOrder',
      owner: readAddress(wire.owner, 'owner'),
      nonce: readUint(wire.nonce, 'nonce'),
      reason: readText(wire.reason, 'reason'),
    }
  },
  Tick: (wire) => {
    assertClosed(wire, 1, 'Tick')
    return { kind: 'Tick' }
  },
  ContinueOrder: (wire) => {
    assertClosed(wire, 2, 'ContinueOrder')
    return { kind: 'ContinueOrder', orderId: readText(wire.order_id, 'order_id') }
  },
  SignatureChecked: (wire) => {
    assertClosed(wire, 3, 'SignatureChecked')
    return {
      kind: 'SignatureChecked',
      orderId: readText(wire.order_id, 'order_id'),
      valid: readBoolean(wire.valid, 'valid'),
    }
  },
  AccountObserved: (wire) => {
    assertClosed(wire, 2, 'AccountObserved')
    return { kind: 'AccountObserved', account: accountFromWire(wire.account) }
  },
  SettlementReversed: (wire) => {
    assertClosed(wire, 2, 'SettlementReversed')
    return { kind: 'SettlementReversed', reversal: reversalFromWire(wire.reversal) }
  },
  ReversalsRead: (wire) => {
    assertClosed(wire, 2, 'ReversalsRead')
    return { kind: 'ReversalsRead', upTo: readWhole(wire.up_to, 'up_to') }
  },
  SettlementReported: (wire) => {
    assertClosed(wire, 3, 'SettlementReported')
    return {
      kind: 'SettlementReported',
      settlementId: readText(wire.settlement_id, 'settlement_id'),
      outcome: outcomeFromWire(wire.outcome),
    }
  },
}
const COMMAND_KINDS = Object.keys(COMMANDS) as Command['kind'][]

function commandFromWire(value: unknown): Command {
  const wire = fieldsOf<CommandFields>(value, 'command')
  return COMMANDS[readOneOf(COMMAND_KINDS, wire.kind, 'kind')](wire)
}

interface OutcomeWire {
  readonly kind: SettlementOutcome['kind']
  readonly tx_hash?: string | undefined
  readonly block_number?: string
  readonly revert?: string
  readonly guilty?: string
}

function outcomeToWire(outcome: SettlementOutcome): OutcomeWire {
  const { kind } = outcome
  if (kind === 'success') {
    return { kind, tx_hash: outcome.txHash, block_number: String(outcome.blockNumber) }
  }
  return { kind, revert: outcome.revert, guilty: outcome.guilty, tx_hash: outcome.txHash }
}

function outcomeFromWire(value: unknown): SettlementOutcome {
  const wire = fieldsOf<OutcomeWire>(value, 'outcome')
  const { kind, tx_hash } = wire
  if (kind === 'success') {
    assertClosed(wire, 3, 'outcome')
    const txHash = readHex(tx_hash, 'tx_hash')
    return { kind, txHash, blockNumber: readUint(wire.block_number, 'block_number') }
  }
  if (kind !== 'reverted') return malformed('outcome', 'known')
  const revert = readText(wire.revert, 'revert')
  const guilty = readOneOf(['maker', 'taker', 'both'], wire.guilty, 'guilty')
  assertClosed(wire, 3 + one(tx_hash), 'outcome')
  if (tx_hash === undefined) return { kind, revert, guilty }
  return { kind, revert, guilty, txHash: readHex(tx_hash, 'tx_hash') }
}
