#if S3
/// The credentials of an S3 account; no description of them contains a secret.
package struct S3Credentials: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// The identifier of the access key.
    let accessKeyID: String
    /// The secret of the access key.
    let secretAccessKey: String
    /// The token of temporary credentials; nil for permanent ones.
    let sessionToken: String?

    /// Creates credentials.
    package init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil) {
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
    }

    package var description: String { "S3Credentials" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
#endif
