import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** An authority of its own, and a certificate of localhost that it has signed; needs openssl. */
export function makeCertificates(dir: string) {
  const at = (name: string) => join(dir, name)
  const openssl = (...words: string[]) => execFileSync('openssl', words, { stdio: 'pipe' })
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl(
    ...['req', '-x509', ...key, '-days', '2', '-subj', '/CN=test authority'],
    ...['-keyout', at('ca.key'), '-out', at('ca.pem')],
  )
  openssl(
    ...['req', ...key, '-subj', '/CN=bus'],
    ...['-keyout', at('bus.key'), '-out', at('bus.csr')],
  )
  writeFileSync(at('bus.ext'), 'subjectAltName=DNS:localhost\n')
  openssl(
    ...['x509', '-req', '-in', at('bus.csr'), '-CA', at('ca.pem'), '-CAkey', at('ca.key')],
    ...['-CAcreateserial', '-days', '2', '-extfile', at('bus.ext'), '-out', at('bus.pem')],
  )
  return { caFile: at('ca.pem'), certFile: at('bus.pem'), keyFile: at('bus.key') }
}
