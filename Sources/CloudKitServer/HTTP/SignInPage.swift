import CloudKitServerCore

/// The page on which a person chooses a user to sign in as.
///
/// It asks for no password, so a server shows it on loopback only, where whoever sees it owns the
/// data anyway.
enum SignInPage {
    /// The page with the users to choose from.
    static func choices(_ users: [ServiceUser], apiToken: String, origin: String) -> String {
        let buttons = users.map { user in
            let name = [user.givenName, user.familyName].compactMap(\.self)
                .joined(separator: " ")
            let label = name.isEmpty ? user.userRecordName : name
            return """
                <p><button name="user" value="\(escape(user.userRecordName))">\(escape(label))\
                </button></p>
                """
        }
        return page(
            """
            <h1>Sign in</h1>
            <form method="post" action="/sign-in?ckAPIToken=\(escape(apiToken))\
            &amp;origin=\(escape(origin))">
            \(users.isEmpty ? "<p>The container has no users yet.</p>" : "")
            \(buttons.joined(separator: "\n"))
            </form>
            """
        )
    }

    /// The page that hands the token to the page that opened it, under the names that clients read.
    static func done(token: String, origin: String) -> String {
        page(
            """
            <h1>Signed in</h1>
            <p>The web auth token, for clients that are no web pages:</p>
            <p><code id="token">\(escape(token))</code></p>
            <script>
            const token = document.getElementById("token").textContent;
            const origin = "\(escape(origin))";
            if (window.opener && origin) {
                window.opener.postMessage({ckSession: token, ckWebAuthToken: token}, origin);
            }
            </script>
            """
        )
    }

    private static func page(_ body: String) -> String {
        """
        <!doctype html>
        <html lang="en">
        <head><meta charset="utf-8"><title>CloudKit on this machine</title></head>
        <body>
        \(body)
        </body>
        </html>
        """
    }

    /// Text that means nothing to HTML or to a script's string.
    private static func escape(_ text: String) -> String {
        text.map { character in
            switch character {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"": "&quot;"
            case "'": "&#39;"
            case "\\": "&#92;"
            case "\n", "\r": " "
            default: String(character)
            }
        }.joined()
    }
}
