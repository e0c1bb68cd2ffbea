import { assert } from '../core/assert.js'
import type { Command, LoggedCommand, SettlementOutcome } from '../core/command.js'
import type { OrderStatement } from '../core/order-statement.js'
import { jsonText } from '../core/json-text.js'
import type { BusMessage } from './bus.js'
import { accountFromWire, accountJson } from './account-wire.js'
import { type Lines, framed } from './frame.js'
import { orderFromWire, orderJson } from './order-wire.js'
import { reversalFromWire, reversalJson } from './reversal-wire.js'
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
import { readMessage } from './read-message.js'
import { MAX_MESSAGE_BYTES, WIRE_VERSION } from './wire.js'
import { optionalText } from './write-fields.js'

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
  const statements: OrderStatement[] = []
  let bytes = head.length + tail.length
  for (const logged of commands.slice(0, MAX_COMMANDS_PER_MESSAGE)) {
    const { command } = logged
    const text = loggedCommandJson(logged)
    const statement = command.kind === 'PlaceOrder' ? command.order.statement : undefined
    bytes += Buffer.byteLength(text) + 1 + (statement === undefined ? 0 : statement.length + 1)
    if (bytes > MAX_MESSAGE_BYTES) break
    texts.push(text)
    if (statement !== undefined) statements.push(statement)
  }
  assert(texts.length > 0, 'no command to encode, or the first one exceeds a whole message')
  return { data: framed(head + texts.join(',') + tail, statements), count: texts.length }
}

/** The inverse of encodeCommands. Throws MalformedMessage, or InvariantBroken on an unknown version. */
export function decodeCommands(data: Uint8Array): LoggedCommand[] {
  return readMessage('commands', commandsFromWire, data)
}

function commandsFromWire(message: object, lines: Lines): LoggedCommand[] {
  const wire = fieldsOf<{ v: number; commands: unknown }>(message, 'message')
  const commands = readList(wire.commands, 'commands')
  if (commands.length === 0 || commands.length > MAX_COMMANDS_PER_MESSAGE) {
    malformed('commands', `a list of 1 to ${MAX_COMMANDS_PER_MESSAGE}`)
  }
  assertClosed(wire, 2, 'message')
  return commands.map((command) => loggedCommandFromWire(command, lines))
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

function loggedCommandJson(logged: LoggedCommand): string {
  const { source, sourceNo, atMs, command } = logged
  const asked =
    optionalText('reply_to', logged.replyTo) + optionalText('request_id', logged.requestId)
  return `{"source":${jsonText(source)},"source_no":${sourceNo},"at_ms":${atMs}${asked},"command":${commandJson(command)}}`
}

interface LoggedCommandWire {
  readonly source: string
  readonly source_no: number
  readonly at_ms: number
  readonly reply_to?: string
  readonly request_id?: string
  readonly command: unknown
}

function loggedCommandFromWire(value: unknown, lines: Lines): LoggedCommand {
  const wire = fieldsOf<LoggedCommandWire>(value, 'command')
  const { reply_to, request_id } = wire
  const logged: { -readonly [K in keyof LoggedCommand]: LoggedCommand[K] } = {
    source: readText(wire.source, 'source'),
    sourceNo: readWhole(wire.source_no, 'source_no'),
    atMs: readWhole(wire.at_ms, 'at_ms'),
    command: commandFromWire(wire.command, lines),
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

function commandJson(command: Command): string {
  const { kind } = command
  switch (kind) {
    case 'PlaceOrder': {
      const { order, account } = command
      const seen = account === undefined ? '' : `,"account":${accountJson(account)}`
      return `{"kind":"PlaceOrder","order":${orderJson(order)}${seen}}`
    }
    case 'CancelOrder':
      return `{"kind":"CancelOrder","owner":"${command.owner}","nonce":"${command.nonce}","reason":${jsonText(command.reason)}}`
    case 'Tick':
      return '{"kind":"Tick"}'
    case 'ContinueOrder':
      return `{"kind":"ContinueOrder","order_id":${jsonText(command.orderId)}}`
    case 'SignatureChecked':
      return `{"kind":"SignatureChecked","order_id":${jsonText(command.orderId)},"valid":${command.valid}}`
    case 'AccountObserved':
      return `{"kind":"AccountObserved","account":${accountJson(command.account)}}`
    case 'SettlementReversed':
      return `{"kind":"SettlementReversed","reversal":${reversalJson(command.reversal)}}`
    case 'ReversalsRead':
      return `{"kind":"ReversalsRead","up_to":${command.upTo}}`
    case 'SettlementReported':
      return `{"kind":"SettlementReported","settlement_id":${jsonText(command.settlementId)},"outcome":${outcomeJson(command.outcome)}}`
  }
}

type ReadCommand<K extends Command['kind']> = (
  wire: Partial<CommandFields>,
  lines: Lines,
) => Extract<Command, { kind: K }>

/** One reader for each kind of command; a kind without one does not compile. */
const COMMANDS: { readonly [K in Command['kind']]: ReadCommand<K> } = {
  PlaceOrder: (wire, lines) => {
    const { account } = wire
    const order = orderFromWire(wire.order, lines)
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

function commandFromWire(value: unknown, lines: Lines): Command {
  const wire = fieldsOf<CommandFields>(value, 'command')
  return COMMANDS[readOneOf(COMMAND_KINDS, wire.kind, 'kind')](wire, lines)
}

interface OutcomeWire {
  readonly kind: SettlementOutcome['kind']
  readonly tx_hash?: string | undefined
  readonly block_number?: string
  readonly revert?: string
  readonly guilty?: string
}

function outcomeJson(outcome: SettlementOutcome): string {
  const { kind, txHash } = outcome
  if (kind === 'success') {
    return `{"kind":"success","tx_hash":"${txHash}","block_number":"${outcome.blockNumber}"}`
  }
  const sent = txHash === undefined ? '' : `,"tx_hash":"${txHash}"`
  return `{"kind":"reverted","revert":${jsonText(outcome.revert)},"guilty":"${outcome.guilty}"${sent}}`
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
