import { expect } from 'chai'
import fc from 'fast-check'
import { decodeJournal, encodeJournal, JOURNAL_VERSION } from '../../bus-schemas/journal.js'
import { MalformedMessage } from '../../core/wire/codec.js'
import { anyJournalMessage } from '../support/arbitrary-journals.js'

describe('a message of a journal', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(anyJournalMessage, (message) => {
        expect(decodeJournal(encodeJournal(message))).to.deep.equal(message)
      }),
    )
  })

  it('is read as version 10 wrote it, before there were snapshots', () => {
    const data = Buffer.from('[10,[3,"w",[["final","0x' + 'cd'.repeat(20) + '",[7]]]]]')
    expect(decodeJournal(data)).to.deep.equal({
      term: 3,
      writer: 'w',
      entries: [{ kind: 'final', from: `0x${'cd'.repeat(20)}`, evmNonces: [7] }],
    })
    const later = Buffer.from('[10,[3,"w",[["trimmed","0x' + 'cd'.repeat(20) + '",[7]]]]]')
    expect(() => decodeJournal(later)).to.throw(MalformedMessage, 'known kind')
  })

  it('is refused with bytes that are not canonical base64', () => {
    const attempt = ['0x' + 'ab'.repeat(32), 'AB', '1', '1']
    const entry = ['attempt', '0x' + 'cd'.repeat(20), 1, attempt, 5]
    const data = Buffer.from(JSON.stringify([JOURNAL_VERSION, [1, 'w', [entry], null]]))
    expect(() => decodeJournal(data)).to.throw(MalformedMessage, 'base64')
  })
})
