import { expect } from 'chai'
import { join } from 'node:path'
import type { Address, Hex } from '../../../core/action.js'
import { openJournalReader } from '../../../data/journal/read-journal.js'
import { openJournalFile } from '../../../data/journal/journal-file.js'
import { createTransactionJournal } from '../../../data/journal/transaction-journal.js'
import { tempDir } from '../../support/temp-dir.js'

const SENDER: Address = `0x${'ab'.repeat(20)}`
const SIGNED_AT_MS = 1_760_000_000_000

const hashOf = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`

describe('reading the journal beside the executor', () => {
  const dir = tempDir()
  const path = join(dir.path, 'executor.db')
  const db = openJournalFile(path)
  const journal = createTransactionJournal(db, () => SIGNED_AT_MS)
  after(() => {
    db.close()
    dir.remove()
  })

  function sign(evmNonce: number, ...intentIds: string[]): void {
    const cost = { gasLimit: 21_000n, maxFeePerGas: 7n }
    const attempts = [{ hash: hashOf(evmNonce), raw: '0x02' as Hex, ...cost }]
    const transaction = { from: SENDER, evmNonce, intentIds, attempts }
    journal.recordSigned(
      transaction,
      intentIds.map(() => hashOf(255)),
    )
  }
  function mine(evmNonce: number, ...reverts: (string | undefined)[]): void {
    const outcomes = reverts.map((revert) =>
      revert === undefined
        ? { status: 'success' as const }
        : { status: 'reverted' as const, revert },
    )
    const at = { blockNumber: BigInt(evmNonce), blockHash: hashOf(99) }
    journal.recordMined(SENDER, evmNonce, { hash: hashOf(evmNonce), ...at, outcomes })
  }

  it('tells each settlement by its newest life, with every form that was signed for it', () => {
    sign(1, 'm:1', 'm:12')
    mine(1, 'NotTried', undefined)
    sign(2, 'm:1 life 2')
    sign(3, 'm:3')
    journal.recordRefusal('m:4', hashOf(255), 'TM_FeeTooHigh')
    const reader = openJournalReader(dir.path)
    expect(reader?.find('m:1')).to.deep.equal({ status: 'open', hashes: [hashOf(1), hashOf(2)] })
    expect(reader?.find('m:12')).to.deep.equal({ status: 'success', hashes: [hashOf(1)] })
    expect(reader?.find('m:4')).to.deep.equal({ status: 'refused', hashes: [] })
    expect(reader?.find('m:5')).to.equal(undefined)
    expect(reader?.open()).to.deep.equal({ count: 2, oldestMs: SIGNED_AT_MS })
    reader?.close()
  })

  it('lists successes up to a block by their settlements', () => {
    mine(2, undefined)
    mine(3, undefined)
    const reader = openJournalReader(dir.path)
    const idsUpTo = (block: bigint) =>
      reader?.successes(block, 0, 10).map(({ settlementId }) => settlementId)
    expect(idsUpTo(2n)).to.deep.equal(['m:12', 'm:1'])
    expect(idsUpTo(3n)).to.deep.equal(['m:12', 'm:1', 'm:3'])
    const [first] = reader?.successes(3n, 0, 1) ?? []
    expect(reader?.successes(3n, first?.position ?? 0, 10)).to.have.length(2)
    expect(reader?.open()).to.deep.equal({ count: 0, oldestMs: undefined })
    expect(reader?.doubled()).to.deep.equal([])
    reader?.close()
  })

  it('is not there without a journal', () => {
    expect(openJournalReader(join(dir.path, 'nowhere'))).to.equal(undefined)
  })
})
