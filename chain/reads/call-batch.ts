import type { Address, Hex } from '../../core/action.js'
import { rpcErrorOf } from '../abi/errors.js'
import { hexOf, isHex } from './answer-form.js'
import type { ChainClient } from './client.js'
import { ReadFailure } from './read-failure.js'

/** The block of a read, in the form of JSON-RPC. */
export type BlockId = { readonly blockHash: Hex } | Hex | 'latest'

/** Reads of contracts: those of one turn of the event loop and one block share a call of the node. */
export interface CallBatch {
  /** What the contract returns. Rejects as a call by itself: with its revert, or without an answer of the node. */
  call(to: Address, data: Hex, at: BlockId): Promise<Hex>
  /** Whether there is code at the address. Rejects without an answer of the node. */
  hasCode(address: Address, at: BlockId): Promise<boolean>
}

/** Too many reads wait for the node already. */
export class TooManyCalls extends ReadFailure {
  override readonly name = 'TooManyCalls'
}

/**
 * Creation code that runs the calls appended to it and returns their answers. A node runs it as an eth_call without an
 * address, so that no contract need be deployed. It ends before a call for which gas or room for the answer may lack,
 * so that it may return the answers of the first calls only.
 *
 * A call is appended as 20 bytes of address, 2 bytes of length, and data; the length ffff asks for the size of the
 * address's code. An answer is a word and data: the word's low half is the length, bit 128 is set on success.
 */
export const BATCH_PROGRAM = [
  '6099380380609960003980', // n = codesize - 153; memory[0..n] = the calls; o = n: end of the answers
  '6000', // p = 0: the next call
  '5b82811015609257', // loop, byte 13: to the end unless p < n
  '63009896805a10609257', // to the end if gas < 10,000,000
  '81836140000110609257', // to the end if o > n + 16,384: a node bounds what creation code returns
  '8060140151' + '60f01c', // length = 2 bytes at p + 20
  '8061ffff14606657', // to the code's size if it is ffff
  '60006000828460160185' + '5160601c5afa', // staticcall(gas, address at p, p + 22, length, 0, 0)
  '60801b3d178352', // memory[o] = success << 128 | length of the answer
  '3d600084602001' + '3e', // the answer, at o + 32
  '01601601' + '903d0160200190' + '600d56', // p += 22 + length; o += 32 + length of the answer; to the loop
  '5b50805160601c3b', // byte 102: size of the code at the address at p
  '8260200152' + '700100000000000000000000000000000020' + '8252', // as the answer of one word
  '601601' + '9060400190' + '600d56', // p += 22; o += 64; to the loop
  '5b5081900390f3', // end, byte 146: return memory[n..o]
].join('')

/** The length that asks for the size of the code. */
const CODE_SIZE = 'ffff'
/** Most bytes of calls in one request: with the program, below the 49,152 bytes of creation code that nodes run. */
const MAX_CALL_BYTES = 48_000
/** Requests about one block in flight, beyond the first only while so many calls wait. */
const MAX_IN_FLIGHT = 4
const MANY_CALLS = 300
const MAX_WAITING = 100_000
/** How long the calls go out one by one after a node has not run the program. */
const REST_MS = 60_000

interface BlockQuestion {
  /** As the program reads it, in hex digits. */
  readonly record: string
  /** The same question to the node by itself. */
  readonly alone: () => Promise<Hex>
  readonly resolve: (answer: Hex) => void
  readonly reject: (error: unknown) => void
}

/** The questions about one block that wait, oldest first. */
interface Group {
  readonly at: BlockId
  readonly asked: BlockQuestion[]
  /** By record; the same question waits once. */
  readonly waiting: Map<string, Promise<Hex>>
  inFlight: number
}

const batches = new WeakMap<ChainClient, CallBatch>()

/** The batch that all readers of the client share. */
export function callBatchOf(client: ChainClient): CallBatch {
  const known = batches.get(client)
  if (known !== undefined) return known
  const batch = createCallBatch(client)
  batches.set(client, batch)
  return batch
}

function createCallBatch(client: ChainClient): CallBatch {
  const ask = createQueue(createAnswering(client))
  return {
    call: (to, data, at) =>
      ask(at, recordOf(to, data), async () => {
        const params = [{ to, data }, at] as const
        return hexOf(
          await client.request<BatchedCallSchema>({ method: 'eth_call', params }),
          'an answer',
        )
      }),
    async hasCode(address, at) {
      const record = `${address.slice(2)}${CODE_SIZE}`
      const answer = await ask(at, record, async () => {
        const params = [address, at] as const
        const code = await client.request<CodeSchema>({ method: 'eth_getCode', params })
        return code === '0x' ? NO_CODE : SOME_CODE
      })
      return BigInt(answer) !== 0n
    },
  }
}

const NO_CODE: Hex = '0x00'
const SOME_CODE: Hex = '0x01'

/** Answers questions about one block; resolves with those that are left when a request could not carry them all. */
type QuestionCarrier = (
  at: BlockId,
  asked: readonly BlockQuestion[],
) => Promise<readonly BlockQuestion[]>

type AskAtBlock = (at: BlockId, record: string, alone: BlockQuestion['alone']) => Promise<Hex>

/** Collects the questions of a turn by block; what is asked while a request is in flight shares the next. */
function createQueue(answer: QuestionCarrier): AskAtBlock {
  const groups = new Map<string, Group>()
  let waiting = 0
  let isScheduled = false

  function groupOf(at: BlockId): Group {
    const key = keyOf(at)
    const known = groups.get(key)
    if (known !== undefined) return known
    const group: Group = { at, asked: [], waiting: new Map(), inFlight: 0 }
    groups.set(key, group)
    return group
  }

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      for (const group of groups.values()) while (isDue(group)) void send(group)
    })
  }

  async function send(group: Group): Promise<void> {
    const asked = takePart(group.asked)
    for (const { record } of asked) group.waiting.delete(record)
    waiting -= asked.length
    group.inFlight += 1
    const rest = await answer(group.at, asked)
    group.inFlight -= 1
    waiting += rest.length
    group.asked.unshift(...rest)
    if (group.asked.length > 0) schedule()
    else if (group.inFlight === 0) groups.delete(keyOf(group.at))
  }

  return (at, record, alone) => {
    const same = groups.get(keyOf(at))?.waiting.get(record)
    if (same !== undefined) return same
    if (waiting >= MAX_WAITING) return Promise.reject(new TooManyCalls('too many calls wait'))
    waiting += 1
    const group = groupOf(at)
    const asking = new Promise<Hex>((resolve, reject) => {
      group.asked.push({ record, alone, resolve, reject })
    })
    group.waiting.set(record, asking)
    schedule()
    return asking
  }
}

function createAnswering(client: ChainClient): QuestionCarrier {
  let aloneUntilMs = 0
  return async (at, asked) => {
    if (asked.length === 1 || performance.now() < aloneUntilMs) {
      await askAlone(asked)
      return []
    }
    const together = await askTogether(client, at, asked)
    if ('error' in together) {
      for (const { reject } of asked) reject(together.error)
      return []
    }
    const { answers } = together
    if (answers.length === 0) {
      // An answer to one of them shows that the node does not run the program.
      if (await askAlone(asked)) aloneUntilMs = performance.now() + REST_MS
      return []
    }
    for (const [i, found] of answers.entries()) if (found !== undefined) asked[i]?.resolve(found)
    await askAlone(asked.filter((_, i) => i < answers.length && answers[i] === undefined))
    return asked.slice(answers.length)
  }
}

const isDue = ({ asked, inFlight }: Group): boolean =>
  asked.length > 0 && (inFlight === 0 || (asked.length >= MANY_CALLS && inFlight < MAX_IN_FLIGHT))

const keyOf = (at: BlockId): string => (typeof at === 'string' ? at : at.blockHash)

function recordOf(to: Address, data: Hex): string {
  const bytes = (data.length - 2) / 2
  return `${to.slice(2)}${bytes.toString(16).padStart(4, '0')}${data.slice(2)}`
}

/** Takes the oldest questions that fit in one request. */
function takePart(asked: BlockQuestion[]): BlockQuestion[] {
  let bytes = 0
  const rest = asked.findIndex(({ record }, i) => {
    bytes += record.length / 2
    return bytes > MAX_CALL_BYTES && i > 0
  })
  return asked.splice(0, rest < 0 ? asked.length : rest)
}

/** Asks each by itself; whether the node answered any. The client sends them in as few requests as it can. */
async function askAlone(asked: readonly BlockQuestion[]): Promise<boolean> {
  const answered = await Promise.all(
    asked.map(async ({ alone, resolve, reject }) => {
      try {
        resolve(await alone())
        return true
      } catch (error) {
        reject(error)
        return false
      }
    }),
  )
  return answered.includes(true)
}

/**
 * The answers to the first questions; undefined where a call failed, which by itself tells why, or whether it only lacked
 * gas here. None when the node has refused to run the program. An error when it gave no answer: it would give none to
 * each question either.
 */
async function askTogether(
  client: ChainClient,
  at: BlockId,
  asked: readonly BlockQuestion[],
): Promise<{ readonly answers: readonly (Hex | undefined)[] } | { readonly error: unknown }> {
  const data: Hex = `0x${BATCH_PROGRAM}${asked.map(({ record }) => record).join('')}`
  try {
    const answer = await client.request<BatchedCallSchema>({
      method: 'eth_call',
      params: [{ data }, at],
    })
    return { answers: isHex(answer) ? readAnswers(answer, asked.length) : [] }
  } catch (error) {
    return rpcErrorOf(error) === undefined ? { error } : { answers: [] }
  }
}

const WORD_DIGITS = 64
const SUCCESS = '01'.padStart(32, '0')
const FAILURE = '0'.repeat(32)

/** The answers of the program; none when the text is not of it. */
function readAnswers(text: Hex, most: number): (Hex | undefined)[] {
  const answers: (Hex | undefined)[] = []
  let at = 2
  while (at < text.length) {
    const head = text.slice(at, at + WORD_DIGITS / 2)
    const length = 2 * parseInt(text.slice(at + WORD_DIGITS / 2, at + WORD_DIGITS), 16)
    at += WORD_DIGITS + length
    const isWhole = at <= text.length && (head === SUCCESS || head === FAILURE)
    if (!isWhole || answers.length === most) return []
    answers.push(head === SUCCESS ? `0x${text.slice(at - length, at)}` : undefined)
  }
  return answers
}

/** viem's types allow neither a block hash here nor a call without an address. */
interface BatchedCallSchema {
  readonly Parameters: readonly [{ readonly to?: Address; readonly data: Hex }, BlockId]
  readonly ReturnType: unknown
}

interface CodeSchema {
  readonly Parameters: readonly [Address, BlockId]
  readonly ReturnType: Hex
}
