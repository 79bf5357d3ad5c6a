/// A small page of the server that loads no external resources and works with screen readers.
struct HTMLPage {
    /// The nonce that allows the page's own style and script, and no other.
    let nonce: String

    /// Returns a complete page around a body.
    func text(_ title: String, _ body: String) -> String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width">
        <title>\(Self.escape(title)) – CloudKit</title>
        <style nonce="\(nonce)">
        body { font: 1rem/1.5 system-ui, sans-serif; max-width: 22rem; margin: 2rem auto; padding: 0 1rem; }
        label, input { display: block; width: 100%; box-sizing: border-box; }
        label { margin-top: 1rem; }
        input, button { font: inherit; padding: 0.5rem; }
        code { overflow-wrap: anywhere; }
        .error { color: #b00020; font-weight: 600; }
        </style>
        </head>
        <body>
        <main>
        \(body)
        </main>
        </body>
        </html>
        """
    }

    /// Returns text escaped for HTML.
    static func escape(_ text: String) -> String {
        text.map { character in
            switch character {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"": "&quot;"
            case "'": "&#39;"
            case "\n", "\r", "\r\n": " "
            default: String(character)
            }
        }.joined()
    }
}
