import { expect } from 'chai'
import { serveOff } from '../../../actors/transfer-submitter/open-submitter.js'
import { decodePingAnswer } from '../../../bus-schemas/operations.js'
import { askPing } from '../../../bus-schemas/subjects.js'
import { createMemoryBus } from '../../../runtime/bus/memory-bus.js'
import { asksOf, refusalIn } from './stage.js'

describe('a submitter without key or contracts', () => {
  it('refuses every request, says why, and holds nothing else up (TRA-020)', async () => {
    const bus = createMemoryBus()
    const off = await serveOff(bus, 'deposit', 'no perp manager')
    const { ask, lookUp } = asksOf({ bus }, 'deposit')
    expect(refusalIn(await ask({}))).to.include({ status: 503, code: 'deposits_off' })
    expect(refusalIn(await lookUp(`0x${'ab'.repeat(32)}`))).to.include({ code: 'deposits_off' })
    const ping = await bus.ask(askPing('deposit-submitter'), new Uint8Array(), 500)
    expect(decodePingAnswer(ping)).to.include({ ready: true, detail: 'off: no perp manager' })
    await off.stop()
    await bus.close()
  })
})
