/**
 * A message's frame: its head, which is one line of JSON, and behind it the texts that the head's fields leave out, a
 * line each. JSON text has no line break inside, so the texts need no escaping, and nobody who copies or forwards one
 * has to parse it.
 */
import { isAscii } from 'node:buffer'
import { type OrderStatement, asStatement } from '../core/order-statement.js'
import { MalformedMessage } from './wire.js'

const LINE_BREAK = 0x0a

/** The head and the statements of its orders, in the order in which the head speaks of them, as bytes. */
export function framed(head: string, statements: readonly OrderStatement[]): Uint8Array {
  let at = Buffer.byteLength(head)
  let length = at
  for (const statement of statements) length += 1 + statement.length
  const bytes = Buffer.allocUnsafe(length)
  bytes.write(head, 'utf8')
  for (const statement of statements) {
    bytes[at] = LINE_BREAK
    // A statement is ASCII.
    bytes.write(statement, at + 1, 'latin1')
    at += 1 + statement.length
  }
  return bytes
}

/** The lines of a message behind its head, to be taken in their order. */
export interface Lines {
  /** The next line, which must be an order's statement, as a text of its own: nothing else of the message stays alive. */
  statement(): OrderStatement
  /** The next line, whatever it is. */
  line(): string
  /** All that is left, whatever it is. */
  rest(): string
}

/** A message's head, and what is behind it. Throws MalformedMessage when either is not UTF-8. */
export interface Frame {
  readonly head: string
  readonly lines: Lines
  /** Throws MalformedMessage when there are lines that nobody took. */
  assertTaken(): void
}

export function openFrame(data: Uint8Array): Frame {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  const isPlain = isAscii(bytes)
  const headEnd = endOfLine(bytes, 0)
  let at = headEnd + 1
  const text = (end: number): string => {
    if (at > bytes.length) throw new MalformedMessage('the text behind the head is missing')
    const from = at
    at = end + 1
    return isPlain ? bytes.toString('latin1', from, end) : utf8(bytes.subarray(from, end))
  }
  return {
    head: isPlain ? bytes.toString('latin1', 0, headEnd) : utf8(bytes.subarray(0, headEnd)),
    lines: {
      statement() {
        if (at > bytes.length) throw new MalformedMessage('a statement is missing')
        const end = endOfLine(bytes, at)
        if (!isPlain && !isAscii(bytes.subarray(at, end))) {
          throw new MalformedMessage('a statement is not ASCII')
        }
        const statement = asStatement(bytes.toString('latin1', at, end))
        if (statement === undefined) throw new MalformedMessage('a line is not a statement')
        at = end + 1
        return statement
      },
      line: () => text(endOfLine(bytes, at)),
      rest: () => text(bytes.length),
    },
    assertTaken() {
      if (at <= bytes.length) throw new MalformedMessage('there are lines that belong to nothing')
    },
  }
}

function endOfLine(bytes: Buffer, from: number): number {
  const end = bytes.indexOf(LINE_BREAK, from)
  return end === -1 ? bytes.length : end
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function utf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw new MalformedMessage('not UTF-8', { cause })
  }
}
