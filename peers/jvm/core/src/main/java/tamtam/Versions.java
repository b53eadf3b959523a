package tamtam;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/** The versions of the libraries, as the build names them. */
final class Versions {
    private Versions() {}

    static String of(String library) {
        Properties versions = new Properties();
        try (InputStream file = Versions.class.getResourceAsStream("/versions.properties")) {
            versions.load(file);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return versions.getProperty(library);
    }
}
