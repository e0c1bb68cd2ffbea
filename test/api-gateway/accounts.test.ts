import { expect } from 'chai'
import {
  decodeOwnerAccountsQuestion,
  encodeOwnerAccountsAnswer,
  type OwnerAccountsAnswer,
} from '../../bus-schemas/owner-accounts.js'
import { askOwnerAccounts } from '../../bus-schemas/subjects.js'
import type { Address } from '../../core/action.js'
import { aFuture, aMarket, aPerp } from '../support/builders.js'
import { aGatewayStage, type GatewayStage } from '../support/gateway-stage.js'

const OWNER: Address = `0x${'a1'.repeat(20)}`
const EARLIER: Address = `0x${'e0'.repeat(20)}`

describe('GET /v1/accounts', () => {
  const spot = aMarket({ marginManagerAddress: `0x${'51'.repeat(20)}` })
  const perp = aPerp()
  const future = aFuture({ enabled: true, marginManagerAddress: `0x${'51'.repeat(20)}` })
  let stage: GatewayStage
  let answer: OwnerAccountsAnswer
  let asked: Address[]
  before(async () => {
    stage = await aGatewayStage({ markets: [spot, perp, future] })
  })
  after(() => stage.close())
  beforeEach(() => (asked = []))

  const get = (query: string) => stage.send('GET', `/v1/accounts${query}`)

  it('is 503 while the chain reader does not answer, or has not reached the newest block (REA-055)', async () => {
    const silent = await get(`?owner_address=${OWNER}`)
    expect([silent.status, silent.json.code]).to.deep.equal([503, 'accounts_unavailable'])
    expect(silent.headers['retry-after']).to.equal('1')
    await stage.bus.answer(askOwnerAccounts, 'chain-reader', (data, replyTo) => {
      asked.push(decodeOwnerAccountsQuestion(data).owner)
      stage.bus.reply(replyTo, encodeOwnerAccountsAnswer(answer))
    })
    answer = {}
    const behind = await get(`?owner_address=${OWNER}`)
    expect([behind.status, behind.json.code]).to.deep.equal([503, 'accounts_behind'])
  })

  it('shows accounts with the markets of their managers, and session keys, without a signature (REA-051)', async () => {
    const key: Address = `0x${'4e'.repeat(20)}`
    answer = {
      found: {
        asOf: { number: 77n, hash: `0x${'0b'.repeat(32)}`, timeSec: 1_700_000_000 },
        accounts: [
          { subaccountId: 4n, manager: spot.marginManagerAddress, leaving: false },
          { subaccountId: 5n, manager: perp.marginManagerAddress, leaving: true },
          { subaccountId: 6n, manager: EARLIER, leaving: false },
        ],
        keys: [{ key, expirySec: 2n ** 255n }],
        isComplete: true,
      },
    }
    const { status, json } = await get(`?owner_address=${OWNER.toUpperCase().replace('0X', '0x')}`)
    expect(status).to.equal(200)
    expect(asked).to.deep.equal([OWNER])
    const shared = [spot.market, future.market].sort()
    expect(json).to.deep.equal({
      owner_address: OWNER,
      as_of_block: '77',
      as_of_time: '2023-11-14T22:13:20.000Z',
      complete: true,
      accounts: [
        {
          subaccount_id: '4',
          manager_address: spot.marginManagerAddress,
          leaving: false,
          markets: shared,
        },
        {
          subaccount_id: '5',
          manager_address: perp.marginManagerAddress,
          leaving: true,
          markets: [perp.market],
        },
        {
          subaccount_id: '6',
          manager_address: EARLIER,
          leaving: false,
          markets: [spot.market],
        },
      ],
      session_keys: [{ address: key, expiry: (2n ** 255n).toString() }],
    })
  })

  it('refuses what names no owner', async () => {
    const missing = ['', '?owner_address=', '?owner=1']
    for (const query of missing) {
      const { status, json } = await get(query)
      expect([status, json.code], query).to.deep.equal([400, 'owner_address_required'])
    }
    for (const sent of ['0x12', OWNER.slice(2), `${OWNER}&owner_address=${OWNER}`]) {
      const { status, json } = await get(`?owner_address=${sent}`)
      expect([status, json.code], sent).to.deep.equal([400, 'invalid_address'])
    }
  })
})
