import type { RpcLog } from 'viem'
import type { Hex } from '../../core/action.js'
import { ReadFailure } from './read-failure.js'

/** A node has answered in another form than the question has. */
export class OddAnswer extends ReadFailure {
  override readonly name = 'OddAnswer'
}

export const isHex = (value: unknown): value is Hex =>
  typeof value === 'string' && /^0x[0-9a-fA-F]*$/.test(value)

/** An integer as JSON-RPC writes it, of at most 256 bits. */
export const isQuantity = (value: unknown): value is Hex =>
  typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value)

/** The integer; throws OddAnswer for anything else. */
export function quantityOf(value: unknown, what: string): bigint {
  if (!isQuantity(value)) throw new OddAnswer(`${what} is not a quantity`)
  return BigInt(value)
}

/** The same as a number; throws OddAnswer beyond the exact ones. */
export const exactQuantityOf = (value: unknown, what: string): number =>
  exactOf(quantityOf(value, what), what)

/** What a contract has answered, as a number; throws OddAnswer beyond the exact ones. */
export function exactOf(value: bigint, what: string): number {
  const number = Number(value)
  if (!Number.isSafeInteger(number)) throw new OddAnswer(`${what} is out of range`)
  return number
}

/** Bytes as JSON-RPC writes them; throws OddAnswer for anything else. */
export function hexOf(value: unknown, what: string): Hex {
  if (!isHex(value)) throw new OddAnswer(`${what} has no bytes`)
  return value
}

/** What every event has, wherever it is read. */
export type EventForm = Pick<RpcLog, 'address' | 'topics' | 'data'>

export function isEvent(value: unknown): value is EventForm {
  if (typeof value !== 'object' || value === null) return false
  const { address, topics, data } = value as Record<keyof EventForm, unknown>
  return isHex(address) && Array.isArray(topics) && topics.every(isHex) && isHex(data)
}

/** The events of an answer; throws OddAnswer for anything but a list of them. */
export function eventsOf(answer: unknown): readonly RpcLog[] {
  if (!Array.isArray(answer) || !answer.every(isPlacedEvent))
    throw new OddAnswer('no list of events')
  return answer
}

const HASHES = ['transactionHash', 'blockHash'] as const
/** What is stored as a number: a place on the chain. */
const PLACES = ['blockNumber', 'transactionIndex', 'logIndex'] as const

/** A pending event has no place yet. */
const isPlacedEvent = (value: unknown): value is RpcLog => {
  if (!isEvent(value)) return false
  const log: Partial<Record<string, unknown>> = { ...value }
  const { blockTimestamp } = log
  return (
    HASHES.every((name) => isAbsent(log[name]) || isHex(log[name])) &&
    PLACES.every((name) => isAbsent(log[name]) || isPlace(log[name])) &&
    (isAbsent(blockTimestamp) || isQuantity(blockTimestamp))
  )
}

const isPlace = (value: unknown): boolean =>
  isQuantity(value) && Number.isSafeInteger(Number(BigInt(value)))

const isAbsent = (value: unknown): value is null | undefined =>
  value === undefined || value === null

const BLOCK_QUANTITIES = [
  ...['baseFeePerGas', 'blobGasUsed', 'difficulty', 'excessBlobGas', 'gasLimit'],
  ...['gasUsed', 'size', 'totalDifficulty'],
]
const TRANSACTION_QUANTITIES = [
  ...['blockTimestamp', 'chainId', 'gas', 'gasPrice'],
  ...['maxFeePerBlobGas', 'maxFeePerGas', 'maxPriorityFeePerGas'],
  ...['nonce', 'v', 'value'],
]
const RECEIPT_QUANTITIES = [
  ...['blobGasPrice', 'blobGasUsed', 'cumulativeGasUsed'],
  ...['effectiveGasPrice', 'gasUsed'],
]

type AnswerFields = Readonly<Record<string, unknown>>

function fieldsOf(value: unknown, what: string): AnswerFields {
  if (typeof value !== 'object' || value === null) throw new OddAnswer(`${what} is no object`)
  return value as AnswerFields
}

function checkQuantities(fields: AnswerFields, names: readonly string[], what: string): void {
  for (const name of names) {
    if (!isAbsent(fields[name])) quantityOf(fields[name], `${name} of ${what}`)
  }
  for (const name of PLACES) {
    if (!isAbsent(fields[name])) exactQuantityOf(fields[name], `${name} of ${what}`)
  }
}

/** A mined block; its transactions are hashes, or whole. */
function checkBlock(answer: unknown): void {
  const block = fieldsOf(answer, 'a block')
  exactQuantityOf(block.number, 'number of a block')
  quantityOf(block.timestamp, 'timestamp of a block')
  for (const name of ['hash', 'parentHash']) hexOf(block[name], `${name} of a block`)
  checkQuantities(block, BLOCK_QUANTITIES, 'a block')
  const { transactions } = block
  if (isAbsent(transactions)) return
  if (!Array.isArray(transactions)) throw new OddAnswer('a block has no list of transactions')
  for (const transaction of transactions) if (!isHex(transaction)) checkTransaction(transaction)
}

function checkTransaction(answer: unknown): void {
  const transaction = fieldsOf(answer, 'a transaction')
  for (const name of ['hash', 'from', 'input']) hexOf(transaction[name], `${name} of a transaction`)
  if (!isAbsent(transaction.to)) hexOf(transaction.to, 'to of a transaction')
  checkQuantities(transaction, TRANSACTION_QUANTITIES, 'a transaction')
  const { authorizationList: list } = transaction
  if (isAbsent(list)) return
  if (!Array.isArray(list)) throw new OddAnswer('a transaction has no list of authorizations')
  for (const each of list) {
    const authorization = fieldsOf(each, 'an authorization')
    hexOf(authorization.address, 'address of an authorization')
    for (const name of ['chainId', 'nonce', 'r', 's'])
      quantityOf(authorization[name], `${name} of an authorization`)
  }
}

function checkReceipt(answer: unknown): void {
  const receipt = fieldsOf(answer, 'a receipt')
  checkQuantities(receipt, RECEIPT_QUANTITIES, 'a receipt')
  if (!isAbsent(receipt.logs)) eventsOf(receipt.logs)
}

const unlessNull = (check: (answer: unknown) => void) => (answer: unknown) => {
  if (answer !== null) check(answer)
}
const checkQuantity = (answer: unknown) => void quantityOf(answer, 'the answer')
const checkExact = (answer: unknown) => void exactQuantityOf(answer, 'the answer')
const checkBytes = (answer: unknown) => void hexOf(answer, 'the answer')
const checkEvents = (answer: unknown) => void eventsOf(answer)

const CHECKS: ReadonlyMap<string, (answer: unknown) => void> = new Map([
  ['eth_getBlockByNumber', unlessNull(checkBlock)],
  ['eth_getBlockByHash', unlessNull(checkBlock)],
  ['eth_getTransactionByHash', unlessNull(checkTransaction)],
  ['eth_getTransactionReceipt', unlessNull(checkReceipt)],
  ['eth_getLogs', checkEvents],
  ['eth_blockNumber', checkExact],
  ['eth_chainId', checkQuantity],
  ['eth_getBalance', checkQuantity],
  ['eth_getTransactionCount', checkExact],
  ['eth_call', checkBytes],
  ['eth_getCode', checkBytes],
])

/**
 * Throws OddAnswer for an answer that viem would take apart without a look at its form, and fail on as a defect of this
 * program does, and for a place or a count that no store keeps exactly. Null passes where it says that there is none; a
 * pending block does not pass.
 */
export function checkAnswer(method: string, answer: unknown): void {
  CHECKS.get(method)?.(answer)
}
