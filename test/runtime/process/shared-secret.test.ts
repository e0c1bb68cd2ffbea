import { expect } from 'chai'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CannotStart } from '../../../core/cannot-start.js'
import { executorSecretOf } from '../../../runtime/process/shared-secret.js'
import { tempDir } from '../../support/temp-dir.js'

const SECRET = 'hush'.repeat(8)

describe('the secret that matchers and executor share', () => {
  const dir = tempDir()
  const written = (content: string, mode = 0o600): string => {
    const file = join(dir.path, 'secret')
    writeFileSync(file, content)
    chmodSync(file, mode)
    return file
  }
  const faultOf = (settings: Parameters<typeof executorSecretOf>[0]): string => {
    try {
      executorSecretOf(settings)
    } catch (error) {
      expect(error).to.be.instanceOf(CannotStart)
      return (error as Error).message
    }
    return 'none'
  }

  it('is in a file or in the environment', () => {
    expect(executorSecretOf({ EXECUTOR_SECRET_FILE: written(`${SECRET}\n`) })).to.equal(SECRET)
    expect(executorSecretOf({ EXECUTOR_SECRET_FILE: written(SECRET, 0o400) })).to.equal(SECRET)
    expect(executorSecretOf({ EXECUTOR_SECRET: SECRET })).to.equal(SECRET)
  })

  it('has to be there, once', () => {
    expect(faultOf({})).to.match(/^there is no secret of the executor: set EXECUTOR_SECRET_FILE/)
    const file = written(SECRET)
    expect(faultOf({ EXECUTOR_SECRET_FILE: file, EXECUTOR_SECRET: SECRET })).to.include('both set')
  })

  it('is refused in a file that others may read, that is missing, too short or too long, and not shown', () => {
    for (const mode of [0o640, 0o604, 0o620, 0o677])
      expect(faultOf({ EXECUTOR_SECRET_FILE: written(SECRET, mode) })).to.include('set it to 600')
    expect(faultOf({ EXECUTOR_SECRET_FILE: join(dir.path, 'none') })).to.include('ENOENT')
    const short = faultOf({ EXECUTOR_SECRET_FILE: written(` ${'s'.repeat(31)}\n`) })
    expect(short).to.include('at least 32 characters').and.not.include('sss')
    expect(faultOf({ EXECUTOR_SECRET_FILE: written('s'.repeat(4_097)) })).to.include('too long')
  })
})
