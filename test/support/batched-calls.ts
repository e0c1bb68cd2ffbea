import { BATCH_PROGRAM } from '../../chain/reads/call-batch.js'
import type { Address, Hex } from '../../core/action.js'
import { assert } from '../../core/assert.js'

/** One question of a batch: a call, or whether there is code. */
export interface BatchedCall {
  readonly to: Address
  /** Absent when the question is about code. */
  readonly data?: Hex
}

const CODE_SIZE = 0xffff
const WORD_DIGITS = 64

/** The questions that the batch's program was given. */
export function batchedCalls(program: Hex): BatchedCall[] {
  assert(program.startsWith(`0x${BATCH_PROGRAM}`), 'the call has no address and is not a batch')
  const text = program.slice(2 + BATCH_PROGRAM.length)
  const calls: BatchedCall[] = []
  let at = 0
  const take = (digits: number): string => text.slice(at, (at += digits))
  while (at < text.length) {
    const to: Address = `0x${take(40).toLowerCase()}`
    const length = parseInt(take(4), 16)
    calls.push(length === CODE_SIZE ? { to } : { to, data: `0x${take(2 * length)}` })
  }
  return calls
}

/** What the program returns for these answers; undefined for a call that reverts. A question about code is answered with a word. */
export const batchAnswer = (answers: readonly (Hex | undefined)[]): Hex =>
  `0x${answers.map(answerText).join('')}`

function answerText(answer: Hex | undefined): string {
  if (answer === undefined) return '0'.repeat(WORD_DIGITS)
  const digits = answer.slice(2)
  const length = (digits.length / 2).toString(16).padStart(WORD_DIGITS / 2, '0')
  return `${'1'.padStart(WORD_DIGITS / 2, '0')}${length}${digits}`
}
