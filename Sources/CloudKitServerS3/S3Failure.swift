#if S3
package import CloudKitServerCore

/// A request to S3 that failed.
package struct S3Failure: Error, Hashable, Sendable {
    /// The status of the response; nil without one.
    package var status: Int?
    /// The error of S3, such as `SlowDown`; empty if the response has none.
    package var code = ""
    /// The region that S3 says the bucket is in.
    package var region: String?
    /// The reason in words where there is no response.
    package var reason = ""

    /// Returns a failure without a response, such as a lost connection.
    package static func lost(_ reason: String) -> S3Failure { S3Failure(reason: reason) }

    /// Returns the failure of a response that is not S3's.
    package static func unreadable(_ status: Int) -> S3Failure {
        S3Failure(status: status, reason: "the response is not one of S3")
    }

    /// Creates the failure of a response from its body.
    package init(status: Int, body: some Collection<UInt8>, headers: [String: String] = [:]) {
        self.status = status
        region = headers["x-amz-bucket-region"]
        guard let error = S3XML(body), error.name == "Error" else { return }
        code = Self.printable(error["Code"]?.text ?? "")
        region = region ?? error["Region"]?.text
    }

    private init(status: Int? = nil, reason: String) {
        self.status = status
        self.reason = reason
    }

    /// `true` when the same request may succeed later.
    package var isTransient: Bool {
        guard let status else { return true }
        return [429, 500, 502, 503, 504].contains(status)
            || ["SlowDown", "InternalError", "RequestTimeout", "ServiceUnavailable"].contains(code)
    }

    /// Returns the error that the service reports.
    ///
    /// - Parameters:
    ///   - purpose: The purpose of the request: "store", "read" and so on.
    ///   - key: The key of the object; nil for the bucket.
    ///   - settings: The settings of the storage.
    /// - Returns: The error, with its remedy and without credentials.
    package func storageError(
        _ purpose: String,
        _ key: String?,
        _ settings: S3Settings
    ) -> StorageError {
        let object = key.map { "\($0) in " } ?? ""
        let cause =
            [
                code.isEmpty ? nil : code, status.map { "status \($0)" },
                reason.isEmpty ? nil : reason,
            ]
            .compactMap(\.self).joined(separator: ", ")
        return StorageError(
            storageCode,
            "S3 did not \(purpose) \(object)the bucket \(settings.bucket) at "
                + "\(settings.endpoint.authority) (\(cause))" + remedy(settings)
        )
    }

    private var storageCode: StorageError.Code {
        if status == 507 || Self.full.contains(code) { return .full }
        return isTransient ? .busy : .other
    }

    private static let full: Set = [
        "QuotaExceeded", "XMinioStorageFull", "XAmzStorageFull", "InsufficientStorage",
    ]

    private func remedy(_ settings: S3Settings) -> String {
        switch code {
        case "RequestTimeTooSkewed":
            return
                "; the clock of this machine and that of S3 differ by more than 15 minutes: correct it"
        case "NoSuchBucket":
            return "; create the bucket, or correct the address of the assets"
        case "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "ExpiredToken",
            "TokenRefreshRequired":
            return "; correct \(S3Settings.Variable.accessKeyID), "
                + "\(S3Settings.Variable.secretAccessKey) or \(S3Settings.Variable.sessionToken) in the "
                + "environment, and start the server again"
        case "AccessDenied", "AllAccessDisabled":
            return "; the access key needs s3:GetObject, s3:PutObject, s3:DeleteObject and "
                + "s3:AbortMultipartUpload for the objects, and s3:ListBucket and "
                + "s3:ListBucketMultipartUploads for the bucket"
        default: break
        }
        if let region, region != settings.region, let status, (300..<500).contains(status) {
            return "; the bucket is in the region \(Self.printable(region)): set "
                + "\(S3Settings.Variable.regions[0]) to it"
        }
        if let status, (300..<400).contains(status) {
            return "; S3 wants the bucket to be addressed elsewhere: correct "
                + "\(S3Settings.Variable.regions[0]) or \(S3Settings.Variable.endpoints[0])"
        }
        if status == 403 { return "; the access key may not do that" }
        return isTransient ? "; it may work later" : ""
    }

    /// Returns the beginning of a word of S3, without characters that a log could mistake.
    private static func printable(_ text: String) -> String {
        String(text.prefix(64).filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })
    }
}
#endif
