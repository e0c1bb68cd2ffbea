import { expect } from 'chai'
import { BusUnavailable, MessagesGone, StreamMissing } from '../../../runtime/bus/bus.js'
import { isReadNow } from '../../../runtime/bus/read-later.js'
import { rejectionOf } from './probes.js'

describe('logs that a standby follows', () => {
  it('may be read later where the bus does not answer or show one, or has trimmed what is read', async () => {
    const later = [new BusUnavailable('no answer'), new StreamMissing('not yet')]
    for (const why of [...later, new MessagesGone('trimmed')])
      expect(await isReadNow(() => Promise.reject(why)), why.name).to.equal(false)
    expect(await isReadNow(() => Promise.resolve())).to.equal(true)
  })

  it('let a broken invariant through', async () => {
    const broken = new Error('broken rule')
    expect(await rejectionOf(isReadNow(() => Promise.reject(broken)))).to.equal(broken)
  })
})
