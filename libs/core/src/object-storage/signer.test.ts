import { expect, test } from 'vitest'
import { encodePath, Signer } from './signer.js'

test('a request is signed like the example of Signature Version 4 for S3', () => {
  // "Signature Calculations for the Authorization Header", GET Bucket (List Objects).
  const signed = new Signer('us-east-1').sign(
    {
      method: 'GET',
      host: 'examplebucket.s3.amazonaws.com',
      path: '/',
      query: 'max-keys=2&prefix=J',
      payload: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    },
    { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
    new Date('2013-05-24T00:00:00Z'),
  )
  expect(signed.authorization).toMatch(/Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7$/)
})

test('a path is encoded except for its slashes and unreserved characters', () => {
  expect(encodePath("a b/ü+%41(1)'!*~")).toBe('a%20b/%C3%BC%2B%2541%281%29%27%21%2A~')
})
