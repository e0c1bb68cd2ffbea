import { expect } from 'chai'
import { checkWirings, type ReadWiring } from '../../../actors/order-intake/chain-clients.js'
import { ChainUnreachable } from '../../../chain/reads/client.js'
import { aMarket, aPerp } from '../../support/builders.js'
import { eventually } from '../../support/eventually.js'
import { silentLog } from '../../support/intake-stage.js'

const spot = aMarket()
const perp = aPerp()

function checked(readWiring: ReadWiring) {
  const stopped = new Map<string, string>()
  const halts = { close: (market: string, why: string) => void stopped.set(market, why) }
  const fatal: unknown[] = []
  const onFatal = (error: unknown) => void fatal.push(error)
  const wirings = checkWirings({ readWiring, halts, log: silentLog, onFatal, retryMs: 1 })
  return { stopped, fatal, wirings }
}

describe('the check of how markets are wired', () => {
  it('closes the market that is wired otherwise, and no other', async () => {
    const { stopped, wirings } = checked(({ market }) =>
      Promise.resolve(market === perp.market ? 'no contract at asset 0x1' : undefined),
    )
    for (const market of [spot, perp]) await wirings.check(market)
    expect([...stopped]).to.deep.equal([['cNGN-PERP', 'cNGN-PERP: no contract at asset 0x1']])
    await wirings.stop()
  })

  it('asks again while the chain does not answer, and lets orders in meanwhile', async () => {
    let asked = 0
    const { stopped, wirings } = checked(() => {
      asked += 1
      return asked < 4 ? Promise.reject(new ChainUnreachable('no answer')) : Promise.resolve('why')
    })
    await wirings.check(perp)
    expect(stopped.size).to.equal(0)
    await eventually(() => stopped.size === 1, 20_000)
    await wirings.stop()
    expect(asked).to.equal(4)
  })

  it('asks no more once it is stopped', async () => {
    let asked = 0
    const { wirings } = checked(() => {
      asked += 1
      return Promise.reject(new ChainUnreachable('no answer'))
    })
    await wirings.check(perp)
    await wirings.stop()
    const before = asked
    for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate)
    expect(asked).to.be.most(before + 1)
  })

  it('does not take a defect for a missing answer, at once or later', async () => {
    const defect = new TypeError('a defect')
    const atOnce = checked(() => Promise.reject(defect))
    expect(await atOnce.wirings.check(perp).catch((error: unknown) => error)).to.equal(defect)
    let asked = 0
    const later = checked(() => {
      asked += 1
      return Promise.reject(asked === 1 ? new ChainUnreachable('no answer') : defect)
    })
    await later.wirings.check(perp)
    await eventually(() => later.fatal.length > 0, 20_000)
    expect([later.fatal, asked]).to.deep.equal([[defect], 2])
    await later.wirings.stop()
  })
})
