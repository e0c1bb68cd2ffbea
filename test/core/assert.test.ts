import { expect } from 'chai'
import { assert, brokenIn, InvariantBroken, unreachable } from '../../core/assert.js'

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

  it('is found among the causes of the error that a library made of it', () => {
    const broken = new InvariantBroken('x')
    const wrapped = new Error('outer', { cause: new Error('inner', { cause: broken }) })
    expect(brokenIn(wrapped)).to.equal(broken)
    expect(brokenIn(new Error('no answer', { cause: 'text' }))).to.equal(undefined)
  })
})
