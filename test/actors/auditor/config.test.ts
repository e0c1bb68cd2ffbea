import { expect } from 'chai'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readAuditorConfig } from '../../../actors/auditor/config.js'
import { tempDir } from '../../support/temp-dir.js'

describe('the settings of an audit', () => {
  it('are those of the venue in DATA_DIR', () => {
    const dir = tempDir()
    try {
      writeFileSync(join(dir.path, 'ports.json'), '{"nats":4322,"chain":8645}')
      expect(readAuditorConfig({ DATA_DIR: dir.path })).to.include({
        NATS_URL: 'nats://127.0.0.1:4322',
        RPC_URL: 'http://127.0.0.1:8645',
      })
    } finally {
      dir.remove()
    }
  })

  it('take the chain from the environment beside a ./venue up on an outside one', () => {
    const dir = tempDir()
    try {
      writeFileSync(join(dir.path, 'ports.json'), '{"nats":4322}')
      writeFileSync(join(dir.path, 'devnet.json'), '{}')
      const env = { DATA_DIR: dir.path, RPC_URL: 'http://node.example/' }
      expect(readAuditorConfig(env)).to.include({
        ...env,
        NATS_URL: 'nats://127.0.0.1:4322',
        DEPLOYMENT_FILE: join(dir.path, 'devnet.json'),
      })
      expect(() => readAuditorConfig({ DATA_DIR: dir.path })).to.throw(
        `the chain of ${dir.path} is another's: set RPC_URL to its node`,
      )
      for (const [text, says] of [
        ['{}', 'names no port of a bus'],
        ['{', 'is no JSON'],
        ['{"nats":"x"}', 'names no ports, nats '],
      ] as const) {
        writeFileSync(join(dir.path, 'ports.json'), text)
        expect(() => readAuditorConfig(env), text)
          .to.throw(says)
          .with.property('message')
          .not.match(/[\n[]/)
      }
    } finally {
      dir.remove()
    }
  })

  it('say in one line that no venue is there', () => {
    expect(() => readAuditorConfig({ DATA_DIR: '/nowhere' })).to.throw(
      'there is no venue in /nowhere: set DATA_DIR, or NATS_URL and RPC_URL',
    )
  })
})
