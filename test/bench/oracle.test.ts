import { expect } from 'chai'
import { createHash } from 'node:crypto'
import { NotAWorkload, readOracleFile, writeOracleFile } from '../../bench/oracle-file.js'
import type { OracleMessage } from '../../bench/oracle-file.js'
import { createOracleVenue } from '../../bench/oracle-venue.js'
import { runOracle } from '../../bench/oracle.js'

const order = (
  orderId: number,
  side: 'buy' | 'sell',
  [lots, ticks]: readonly [lots: number, ticks: number],
  more: Partial<OracleMessage> = {},
): Omit<OracleMessage, 'seq'> => ({ type: 'new', ioc: false, orderId, side, lots, ticks, ...more })

/** A message of each kind, with the lines that the benchmark's text prescribes for it. */
const STEPS: readonly (readonly [Omit<OracleMessage, 'seq'>, readonly string[]])[] = [
  [order(1, 'sell', [10, 101]), ['0,0,1,1,101,10']],
  [order(2, 'sell', [5, 100]), ['0,1,1,2,100,5']],
  // Takes the better price first, at the makers' prices; the rest of it rests.
  [order(3, 'buy', [8, 101]), ['0,2,0,3,101,8', '1,2,100,5,2,3', '1,2,101,3,1,3']],
  [order(4, 'buy', [4, 99]), ['0,3,0,4,99,4']],
  // What an immediate order does not get is dropped.
  [order(5, 'sell', [6, 99], { ioc: true }), ['0,4,1,5,99,6', '1,4,99,4,4,5', '2,4,1,5,99']],
  [order(6, 'buy', [2, 90], { ioc: true }), ['0,5,0,6,90,2', '2,5,0,6,90']],
  [order(7, 'buy', [9, 98]), ['0,6,0,7,98,9']],
  // A modified order is placed anew: it crosses, and its rest stands at the new price.
  [order(7, 'buy', [10, 101], { type: 'modify' }), ['1,7,101,7,1,7', '3,7,0,7,101,10']],
  [order(7, 'buy', [9, 98], { type: 'cancel' }), ['2,8,0,7,101']],
  [order(7, 'buy', [9, 98], { type: 'cancel' }), ['4,9,7']],
  [order(1, 'sell', [11, 102], { type: 'modify' }), ['5,10,1']],
  [order(99, 'buy', [1, 1], { type: 'cancel' }), ['4,11,99']],
]
const MESSAGES = STEPS.map(([message], seq): OracleMessage => ({ ...message, seq }))
const LINES = STEPS.flatMap(([, lines]) => lines)

describe('oracle', () => {
  it('prints what the benchmark expects of each message', () => {
    const venue = createOracleVenue()
    for (const [index, [, lines]] of STEPS.entries()) {
      expect(venue.apply(MESSAGES[index] as OracleMessage)).to.deep.equal(lines)
    }
  })

  it('sweeps more orders than one step matches', () => {
    const venue = createOracleVenue()
    const makers = Array.from({ length: 450 }, (_, i) => order(i + 1, 'sell', [1, 100 + i]))
    for (const [seq, maker] of makers.entries()) venue.apply({ ...maker, seq })
    const lines = venue.apply({ ...order(1_000, 'buy', [460, 600], { ioc: true }), seq: 500 })
    expect(lines).to.have.length(452)
    expect(lines.at(450)).to.equal('1,500,549,1,450,1000')
    expect(lines.at(451)).to.equal('2,500,0,1000,600')
  })

  it('reads a workload file and digests the lines', () => {
    const result = runOracle(readOracleFile(writeOracleFile(MESSAGES)))
    const sha256 = createHash('sha256').update(LINES.join('\n')).digest('hex')
    expect(result).to.include({ sha256, messages: 12, lines: LINES.length, trades: 4 })
  })

  it('refuses another file', () => {
    const bytes = writeOracleFile(MESSAGES)
    const read = (changed: Buffer) => () => [...readOracleFile(changed)]
    expect(read(Buffer.from('# some text, longer than a header'))).to.throw(NotAWorkload, 'begin')
    expect(read(bytes.subarray(0, -1))).to.throw(NotAWorkload, '496 bytes, it has 495')
    const newer = Buffer.from(bytes)
    newer.writeUInt32LE(2, 8)
    expect(read(newer)).to.throw(NotAWorkload, 'version is 2')
    const strange = Buffer.from(bytes)
    strange.writeUInt8(7, 16)
    expect(read(strange)).to.throw(NotAWorkload, 'byte 16')
  })
})
