import { expect } from 'chai'
import { ChainUnreachable } from '../../chain/reads/client.js'
import type { Address } from '../../core/action.js'
import { aGatewayStage } from '../support/gateway-stage.js'

const OWNER = `0x${'Ab'.repeat(20)}`

describe('GET /v1/permit-nonce', () => {
  const ask = async (query: string, permitNonce?: (owner: Address) => Promise<bigint>) => {
    const gateway = await aGatewayStage({ permitNonce })
    const answer = await gateway.send('GET', `/v1/permit-nonce${query}`)
    await gateway.close()
    return answer
  }

  it('says with which nonce the next permit is signed, and on which token', async () => {
    const asked: string[] = []
    const { status, json } = await ask(`?owner_address=${OWNER}`, (owner) => {
      asked.push(owner)
      return Promise.resolve(3n)
    })
    expect([status, json.nonce, json.owner_address]).to.deep.equal([200, '3', OWNER.toLowerCase()])
    expect(json.token_address).to.match(/^0x[0-9a-f]{40}$/)
    expect(asked).to.deep.equal([OWNER.toLowerCase()])
  })

  it('refuses what is not an address, and says when the chain does not answer', async () => {
    expect((await ask('')).json).to.include({ code: 'owner_address_required' })
    expect((await ask('?owner_address=0x1')).json).to.include({ code: 'invalid_address' })
    const text = 'could not read the nonce of permits from chain'
    const unreachable = () => Promise.reject(new ChainUnreachable('no answer'))
    for (const read of [undefined, unreachable]) {
      const { status, json, headers } = await ask(`?owner_address=${OWNER}`, read)
      expect([status, json.error, headers['retry-after']]).to.deep.equal([502, text, '1'])
    }
  })
})
