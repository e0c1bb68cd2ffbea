import { expect } from 'chai'
import {
  decodeBalancesQuestion,
  encodeBalancesAnswer,
  type BalancesAnswer,
  type BalancesQuestion,
} from '../../bus-schemas/account-facts.js'
import { askBalances } from '../../bus-schemas/subjects.js'
import type { BalancesBody } from '../../interface/balances.js'
import { aGatewayStage, type GatewayStage } from '../support/gateway-stage.js'
import { authHeader, frameOwner, FRAME_WORDS, NOW_MS } from './stage/history-gateway.js'

const body: BalancesBody = {
  owner_address: frameOwner,
  accounts: [
    {
      subaccount_id: '7',
      manager_address: `0x${'ee'.repeat(20)}`,
      block_number: 12,
      block_time: '2026-11-21T10:00:00.000Z',
      facts: 'current',
      tokens: [
        {
          token: 'USDC',
          asset_address: `0x${'c1'.repeat(20)}`,
          total: '25',
          reserved_by_orders: '5',
          reserved_by_matches: '1',
          available: '19',
          ui_total: '25',
          ui_available: '19',
        },
      ],
      margin: [],
    },
  ],
}

describe('GET /v1/balances', () => {
  let gateway: GatewayStage
  let header: string
  let asked: BalancesQuestion[]
  let answer: BalancesAnswer
  before(async () => (header = await authHeader()))
  beforeEach(async () => {
    const auth = { header: 'X-Service-Auth', words: FRAME_WORDS }
    gateway = await aGatewayStage({ auth, nowMs: () => NOW_MS })
    asked = []
    answer = { body: JSON.stringify(body) }
  })
  afterEach(() => gateway.close())

  const answering = () =>
    gateway.bus.answer(askBalances, 'ws-fanout', (data, replyTo) => {
      asked.push(decodeBalancesQuestion(data))
      gateway.bus.reply(replyTo, encodeBalancesAnswer(answer))
    })
  const get = (query = '', headers: Record<string, string> = { 'x-service-auth': header }) =>
    gateway.send('GET', `/v1/balances${query}`, { headers })

  it('asks for the accounts of the frame’s owner, or for those that the query names', async () => {
    await answering()
    const all = await get()
    expect([all.status, all.json]).to.deep.equal([200, body])
    expect(all.headers['cache-control']).to.equal('no-store')
    await get('?subaccount_id=7,%208,7')
    const after = [{ market: 'cNGN-USDC', seq: 0 }]
    expect(asked).to.deep.equal([
      { owner: frameOwner, after },
      { owner: frameOwner, accounts: [7n, 8n], after },
    ])
  })

  it('refuses without a frame, and accounts that are not numbers or too many (STR-042)', async () => {
    await answering()
    const without = await get('', {})
    expect([without.status, without.json.code]).to.deep.equal([401, 'auth_required'])
    const many = Array.from({ length: 21 }, (_, i) => i).join()
    for (const sent of ['', 'x', '-1', '1,,2', '1.5', many, '1&subaccount_id=2']) {
      const { status, json } = await get(`?subaccount_id=${sent}`)
      expect([status, json.code, json.error], sent).to.deep.equal([
        400,
        'invalid_subaccount_ids',
        'subaccount_id must be 1 to 20 non-negative integers, separated by commas',
      ])
    }
    expect(asked).to.deep.equal([])
  })

  it('says why there are none', async () => {
    const unserved = await get()
    expect([unserved.status, unserved.json.code]).to.deep.equal([503, 'balances_unavailable'])
    expect(unserved.headers['retry-after']).to.equal('1')
    await answering()
    const expected = {
      behind: [503, 'read_behind'],
      unreadable: [502, 'balances_unreadable'],
      not_owned: [403, 'subaccount_not_owned'],
    } as const
    for (const [failed, refusal] of Object.entries(expected)) {
      answer = { failed: failed as keyof typeof expected }
      const { status, json, headers } = await get('?subaccount_id=7')
      expect([status, json.code]).to.deep.equal(refusal)
      expect(headers['retry-after']).to.equal(status === 403 ? undefined : '1')
    }
  })
})
