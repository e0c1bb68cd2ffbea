import { expect } from 'chai'
import { assert, InvariantBroken, unreachable } from '../../core/assert.js'

describe('an invariant', () => {
  it('stops the process once it is broken, with what it says', () => {
    for (const holds of [true, 1, 'text', {}]) expect(() => assert(holds, 'fine')).not.to.throw()
    for (const broken of [false, 0, '', undefined, null]) {
      expect(() => assert(broken, 'the book is crossed')).to.throw(
        InvariantBroken,
        'the book is crossed',
      )
    }
    expect(new InvariantBroken('x').name).to.equal('InvariantBroken')
  })

  it('is that no branch is reached which the types exclude', () => {
    expect(() => unreachable('other' as never)).to.throw(InvariantBroken, 'other')
  })
})
