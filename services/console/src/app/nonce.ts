/** The nonce with which this page may write style elements; see the content security policy of the control plane. */
export function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? ''
}

/** The scroll lock behind dialogs looks for it under the name that webpack once gave it. */
export function shareNonce(): void {
  Object.assign(globalThis, { __webpack_nonce__: styleNonce() })
}
