import { expect } from 'chai'
import fc from 'fast-check'
import { feedSeqsText, raiseSeq, readFeedSeqs } from '../../core/feed-seqs.js'
import { MAX_FEED_SEQS, MAX_FEED_SEQS_LENGTH } from '../../core/limits.js'

const market = fc.stringMatching(/^[A-Za-z0-9-]{1,20}$/)
const seq = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })

describe('the numbers of feeds as text', () => {
  it('are read as they were written, whatever space parts them', () => {
    fc.assert(
      fc.property(fc.dictionary(market, seq, { minKeys: 1, maxKeys: 20 }), (seqs) => {
        const text = feedSeqsText(Object.entries(seqs))
        const read = new Map(Object.entries(seqs))
        expect(readFeedSeqs(text)).to.deep.equal(read)
        expect(readFeedSeqs(` ${text.replaceAll(', ', ' ,')} `)).to.deep.equal(read)
      }),
    )
    const two = Object.entries({ 'cNGN-USDC': 7, 'cNGN-PERP': 0 })
    expect(feedSeqsText(two)).to.equal('cNGN-USDC=7, cNGN-PERP=0')
  })

  it('are the greater one of a market that is named twice', () => {
    expect(readFeedSeqs('a=3,b=1,a=2')).to.deep.equal(
      new Map([
        ['a', 3],
        ['b', 1],
      ]),
    )
    const seqs = new Map([['a', 3]])
    raiseSeq(seqs, 'a', 2)
    expect(seqs.get('a')).to.equal(3)
  })

  it('are not read from any other text', () => {
    for (const text of [
      ...['', '7', 'a', 'a=', '=1', 'a=-1', 'a=1.5', 'a=1e3', 'a=0x1', 'a=b=1', 'a b=1', 'a = 1'],
      ...['a=1,', ',a=1', 'a=1;b=2', `a=${Number.MAX_SAFE_INTEGER + 1}`, 'a=99999999999999999'],
      Array.from({ length: MAX_FEED_SEQS + 1 }, (_, no) => `m${no}=1`).join(),
      `${'a'.repeat(MAX_FEED_SEQS_LENGTH)}=1`,
    ]) {
      expect(readFeedSeqs(text), text.slice(0, 40)).to.equal(undefined)
    }
    const most = Array.from({ length: MAX_FEED_SEQS }, (_, no) => `m${no}=1`).join()
    expect(readFeedSeqs(most)?.size).to.equal(MAX_FEED_SEQS)
  })
})
