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

  it('is refused with bytes that are not canonical base64', () => {
    const attempt = ['0x' + 'ab'.repeat(32), 'AB', '1', '1']
    const entry = ['attempt', '0x' + 'cd'.repeat(20), 1, attempt, 5]
    const data = Buffer.from(JSON.stringify([JOURNAL_VERSION, [1, 'w', [entry]]]))
    expect(() => decodeJournal(data)).to.throw(MalformedMessage, 'base64')
  })
})
