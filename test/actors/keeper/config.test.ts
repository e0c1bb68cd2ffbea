import { expect } from 'chai'
import { keeperEnv, readKeeperConfig } from '../../../actors/keeper/config.js'
import { BadConfiguration } from '../../../runtime/process/config.js'
import { E18 } from '../../../core/money.js'

const needed = { NATS_URL: 'nats://127.0.0.1:4222', RPC_URL: 'http://127.0.0.1:8545' }
const read = (given: Readonly<Record<string, string>>) =>
  keeperEnv.safeParse({ ...needed, DEPLOYMENT_FILE: 'd.json', DATA_DIR: '.', ...given })

describe('the settings of the keeper', () => {
  it('name accounts of its own and the bound of a takeover, and none by default', () => {
    const none = read({})
    expect(none.data?.KEEPER_SUBACCOUNT_IDS).to.deep.equal([])
    expect(none.data?.KEEPER_MOST_USDC).to.equal(0n)
    const { data } = read({ KEEPER_SUBACCOUNT_IDS: '12, 13', KEEPER_MOST_USDC: '2500.5' })
    expect(data?.KEEPER_SUBACCOUNT_IDS).to.deep.equal([12n, 13n])
    expect(data?.KEEPER_MOST_USDC).to.equal((25_005n * E18) / 10n)
  })

  it('need a bound that reaches a takeover where they name accounts', () => {
    const before = { ...process.env }
    const start = (most: string) => {
      Object.assign(process.env, needed, { DEPLOYMENT_FILE: 'd.json', DATA_DIR: '.' })
      Object.assign(process.env, { KEEPER_SUBACCOUNT_IDS: '12', KEEPER_MOST_USDC: most })
      return readKeeperConfig()
    }
    try {
      for (const most of ['0', '0.9'])
        expect(() => start(most), most).to.throw(BadConfiguration, 'of at least 1')
      expect(start('1').rescue).to.deep.equal({ accounts: [12n], mostUsd: E18 })
    } finally {
      process.env = before
    }
  })

  it('are refused where they are none, or too many or too much', () => {
    const many = Array.from({ length: 17 }, (_, i) => i + 1).join(',')
    for (const ids of ['0', 'a', '1;2', '-1', '1'.repeat(20), many])
      expect(read({ KEEPER_SUBACCOUNT_IDS: ids }).success, ids).to.equal(false)
    for (const most of ['-1', 'much', '1000000001', '0.0000000000000000001'])
      expect(read({ KEEPER_MOST_USDC: most }).success, most).to.equal(false)
  })
})
