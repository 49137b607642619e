import { xml, xmlDocument } from './xml.js'

/** Codes of OWS Common 1.1.0 (OGC 06-121r3), 8.3, and `TileOutOfRange` of WMTS 1.0.0. */
export type OwsExceptionCode =
  | 'MissingParameterValue'
  | 'InvalidParameterValue'
  | 'OperationNotSupported'
  | 'VersionNegotiationFailed'
  | 'TileOutOfRange'
  | 'NoApplicableCode'

export interface OwsException {
  readonly kind: 'exception'
  readonly code: OwsExceptionCode
  /** Name of the invalid or missing parameter. */
  readonly locator: string | null
  readonly text: string
}

/** Returns the body of a 400 or 404 of these routes by OWS Common 1.1.0, 8. */
export function exceptionReport({ code, locator, text }: Pick<OwsException, 'code' | 'locator' | 'text'>): string {
  return xmlDocument(xml`
<ExceptionReport xmlns="http://www.opengis.net/ows/1.1" version="1.1.0" xml:lang="en">
<Exception exceptionCode="${code}"${locator === null ? null : xml` locator="${locator}"`}><ExceptionText>${text}</ExceptionText></Exception>
</ExceptionReport>`)
}
