import { expect } from 'chai'
import { createSocketAuth } from '../../client/socket-auth.js'

/** How often it asks a signer that fails so, and what it says in the end. */
async function askedOf(error: Error): Promise<readonly [prompts: number, message: string]> {
  let prompts = 0
  const message = await new Promise<string>((onRefused) => {
    const sign = () => {
      prompts += 1
      return Promise.reject(error)
    }
    createSocketAuth({ sign, send: () => undefined, onReady: () => undefined, onRefused }).start()
  })
  return [prompts, message]
}

describe('the authentication of a socket', () => {
  it('asks an owner who has declined no second time, however a library wraps that', async () => {
    const declined = { code: 4001, message: 'User rejected the request.' }
    expect(await askedOf(declined as unknown as Error)).to.deep.equal([
      1,
      'User rejected the request.',
    ])
    const wrapped = new Error('rejected', { cause: new Error('inner', { cause: declined }) })
    expect(await askedOf(wrapped)).to.deep.equal([1, 'rejected'])
  })

  it('asks a signer that failed otherwise three times', async () => {
    expect(await askedOf(new Error('busy'))).to.deep.equal([3, 'busy'])
    expect(await askedOf({ code: -32_603 } as unknown as Error)).to.deep.equal([
      3,
      '[object Object]',
    ])
  })
})
