/** Returns the nonce for style elements of this page; see the content security policy of the control plane. */
export function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? ''
}

/** The scroll lock of dialogs reads the nonce from a variable of webpack. */
export function shareNonce(): void {
  Object.assign(globalThis, { __webpack_nonce__: styleNonce() })
}
